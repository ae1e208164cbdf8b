package fault

import (
	"context"

	"rowproof/harness/topology"
)

// FullDisk takes all that is free of the disk of the servers' data: a table
// that has to grow is full (error 1114), and a transaction that the binlog has
// no room for waits in the server. End frees the disk. What waits goes on
// within a minute of it: mysqld looks no more often.
//
// The disk is memory of the machine: give Spec.DataMegabytes a small size.
func FullDisk(side Side) Action {
	return side.during("fill the disk of the "+string(side), fillDisk, "free the disk of the "+string(side), freeDisk)
}

func fillDisk(ctx context.Context, server *topology.Server) error { return server.FillDisk(ctx) }
func freeDisk(ctx context.Context, server *topology.Server) error { return server.FreeDisk(ctx) }
