package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// DuplicateStream asks the source for the binlog under the server id, and the
// UUID if there is one, that the subject's stream goes by. The source takes
// the subject for gone and ends its stream with an error. The second stream
// is closed then, so that the subject may come back.
func DuplicateStream() Action {
	return Action{Name: "open a second stream under the subject's server id", Do: func(ctx context.Context, s *Site) (err error) {
		streams := s.Proxy.Streams()
		if len(streams) == 0 {
			return errors.New("the subject has no stream open")
		}
		old := streams[len(streams)-1]
		source := s.Cluster.Source()
		end, err := source.BinlogEnd(ctx)
		if err != nil {
			return err
		}
		second, err := wire.JoinReplica(ctx, wire.ReplicaConfig{
			Addr: source.Addr, User: topology.Replicator().User, Password: topology.Replicator().Password,
			ServerID: old.ServerID, UUID: old.UUID, From: wire.LogSpot{File: end.File, Pos: end.Pos},
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, second.Close()) }()
		err = every(ctx, func() (bool, error) {
			dumping, err := s.dumping(ctx, old.ServerThread)
			return !dumping, err
		})
		if err != nil {
			return fmt.Errorf("wait for the source to end the subject's stream: %w", err)
		}
		return nil
	}}
}

// dumping asks the source whether it sends its binlog on this connection.
func (s *Site) dumping(ctx context.Context, thread uint32) (dumping bool, err error) {
	err = s.Cluster.Source().DB.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND COMMAND LIKE 'Binlog Dump%')", thread).Scan(&dumping)
	if err != nil {
		return false, fmt.Errorf("ask for dump thread %d: %w", thread, err)
	}
	return dumping, nil
}
