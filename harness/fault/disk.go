package fault

import (
	"context"

	"rowproof/harness/topology"
)

// FullDisk takes all that is free of the disk of the servers' data: small
// writes still pass as long as they need no new page of it, others fail or
// wait. End frees it. A server that waits looks again once a minute only.
//
// The disk is memory of the machine: set Spec.DataMegabytes to a small size.
func FullDisk(side Side) Action {
	return side.during("fill the disk of the "+string(side), fillDisk, "free the disk of the "+string(side), freeDisk)
}

func fillDisk(ctx context.Context, server *topology.Server) error { return server.FillDisk(ctx) }
func freeDisk(ctx context.Context, server *topology.Server) error { return server.FreeDisk(ctx) }
