package fault

import (
	"context"

	"rowproof/harness/history"
	"rowproof/harness/topology"
)

// StopIO stops the IO thread of every replica: nothing reaches them, so no
// ACK comes back to the source.
func StopIO() Action { return ioThreads("stop the replica's IO thread", (*topology.Server).StopIO) }

// StartIO starts the IO threads again: the ACKs come.
func StartIO() Action { return ioThreads("start the replica's IO thread", (*topology.Server).StartIO) }

func ioThreads(name string, do func(*topology.Server, context.Context) error) Action {
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		for _, replica := range s.Cluster.Replicas() {
			if err := do(replica, ctx); err != nil {
				return err
			}
			s.Recorder.Mark(history.Mark{Lane: replica.Name, Name: history.MarkServer, Text: name, Data: map[string]string{"what": name}})
		}
		return nil
	}}
}
