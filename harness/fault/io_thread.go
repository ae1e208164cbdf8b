package fault

import (
	"context"
	"strings"

	"rowproof/harness/topology"
)

// Threads of a replica, as the names of actions have them.
const (
	stopIO  = "stop the replica's IO thread"
	stopSQL = "stop the replica's SQL thread"
)

// StopIO stops the IO thread of every replica: nothing reaches them, so no
// ACK comes back to the source.
func StopIO() Action {
	return replicaThread(stopIO, (*topology.Server).StopIO, (*topology.Server).StartIO)
}

// StartIO ends StopIO: the ACKs come.
func StartIO() Action { return ending(stopIO, "start the replica's IO thread") }

// StopSQL stops the SQL thread of every replica: they receive, and give ACKs,
// and apply nothing.
func StopSQL() Action {
	return replicaThread(stopSQL, (*topology.Server).StopSQL, (*topology.Server).StartSQL)
}

// StartSQL ends StopSQL.
func StartSQL() Action { return ending(stopSQL, "start the replica's SQL thread") }

func replicaThread(name string, stop, start func(*topology.Server, context.Context) error) Action {
	return Replicas.during(name, func(ctx context.Context, replica *topology.Server) error {
		return stop(replica, ctx)
	}, strings.Replace(name, "stop", "start", 1), func(ctx context.Context, replica *topology.Server) error {
		status, err := replica.ReplicaStatus(ctx)
		if err != nil || len(status) == 0 { // a failover has made it the source
			return err
		}
		return start(replica, ctx)
	})
}

// ending is End under a name of its own.
func ending(label, name string) Action {
	a := End(label)
	a.Name = name
	return a
}
