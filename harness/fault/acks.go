package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// scriptedID is the server id of the replica that gives ACKs when told; the
// cluster's servers have small ones.
const scriptedID = 4_000_000_001

// waitCount is the source's variable for how many replicas' ACKs it wants.
const waitCount = "rpl_semi_sync_source_wait_for_replica_count"

// WithholdAcks has a replica of our own join the semi-sync source, which
// wants its ACK from then on as well as that of every real replica; it gives
// none, except by AckUpTo and AckAll. Its end gives all that are wanted, and
// the source goes on without it.
//
// With binlog_order_commits=ON one transaction waits for its ACK, and those
// behind it wait together for their turn: then they need the ACK of the last
// of them. With OFF each waits for its own.
func WithholdAcks() Action {
	return lasting("withhold the ACKs", func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		if !s.Cluster.Spec().SemiSync {
			return nil, errors.New("the cluster has no semi-sync replication: set Spec.SemiSync")
		}
		source := s.Cluster.Source()
		end, err := source.BinlogEnd(ctx)
		if err != nil {
			return nil, err
		}
		replica, err := wire.JoinReplica(ctx, wire.ReplicaConfig{
			Addr: source.Addr, User: topology.Replicator().User, Password: topology.Replicator().Password,
			ServerID: scriptedID, From: wire.LogSpot{File: end.File, Pos: end.Pos}, SemiSync: true,
		})
		if err != nil {
			return nil, err
		}
		replica.Withhold()
		all := len(s.Cluster.Replicas()) + 1
		err = s.ackersAre(ctx, all)
		if err == nil {
			err = s.setWaitCount(ctx, all)
		}
		if err != nil {
			return nil, errors.Join(err, replica.Close())
		}
		s.mu.Lock()
		s.replica = replica
		s.mu.Unlock()
		return func(ctx context.Context) error { return s.dismiss(ctx, replica) }, nil
	})
}

// dismiss ends what WithholdAcks began.
func (s *Site) dismiss(ctx context.Context, replica *wire.Replica) error {
	s.mu.Lock()
	s.replica = nil
	s.mu.Unlock()
	others := len(s.Cluster.Replicas())
	errs := []error{replica.Resume(), s.setWaitCount(ctx, max(others, 1))}
	// By itself the source would notice at its next event only.
	dump := sessionOn{server: s.Cluster.Source(), id: uint64(replica.ServerThread())}
	errs = append(errs, dump.kill(ctx, "CONNECTION"), replica.Close())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.ackersAre(ctx, others)
}

// ackersAre waits until the source counts on this many replicas for ACKs.
func (s *Site) ackersAre(ctx context.Context, n int) error {
	err := every(ctx, func() (bool, error) {
		clients, err := s.Cluster.Source().Status(ctx, "Rpl_semi_sync_source_clients")
		return clients == strconv.Itoa(n), err
	})
	if err != nil {
		return fmt.Errorf("wait until the source counts on %d replicas for ACKs: %w", n, err)
	}
	return nil
}

func (s *Site) setWaitCount(ctx context.Context, n int) error {
	if _, err := s.Cluster.Source().DB.ExecContext(ctx, "SET GLOBAL "+waitCount+" = "+strconv.Itoa(n)); err != nil {
		return fmt.Errorf("set %s: %w", waitCount, err)
	}
	return nil
}

// AckUpTo gives the ACKs up to a write that WriteUnacked has sent, and so of
// all that stands before it in the binlog. It returns once the first of these
// writes has returned; so its thread must not be frozen.
func AckUpTo(w workload.Write) Action {
	return Action{Name: "ACK up to " + w.SQL, Do: func(ctx context.Context, s *Site) error {
		replica, sent, err := s.withheld()
		if err != nil {
			return err
		}
		for i, u := range slices.Backward(sent) {
			if u.sql == w.SQL {
				first := oldest(sent[:i+1])
				if err := replica.AckUpTo(ctx, u.end); err != nil {
					return err
				}
				return returned(ctx, first)
			}
		}
		return errors.New("no such write was sent by WriteUnacked")
	}}
}

// AckAll gives all ACKs that are wanted now; later ones are withheld. It
// returns as AckUpTo does.
func AckAll() Action {
	return Action{Name: "ACK all", Do: func(ctx context.Context, s *Site) error {
		replica, sent, err := s.withheld()
		if err != nil {
			return err
		}
		if len(sent) > 0 { // the stream may not have brought them yet
			if err := replica.Await(ctx, sent[len(sent)-1].end); err != nil {
				return err
			}
		}
		first := oldest(sent)
		if err := replica.AckAll(); err != nil {
			return err
		}
		return returned(ctx, first)
	}}
}

// unacked is a write that WriteUnacked has sent.
type unacked struct {
	sql     string
	end     wire.LogSpot // up to where it needs an ACK
	pending *workload.Pending
}

// withheld returns the replica that gives ACKs when told, and the writes that
// WriteUnacked has sent so far.
func (s *Site) withheld() (*wire.Replica, []unacked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replica == nil {
		return nil, nil, errors.New("no ACKs are withheld: WithholdAcks comes first")
	}
	return s.replica, slices.Clone(s.unacked), nil
}

// oldest returns the first of the writes that is still under way, nil if none
// is. It is to be asked before the ACK is given.
func oldest(writes []unacked) *workload.Pending {
	for _, w := range writes {
		select {
		case <-w.pending.Done():
		default:
			return w.pending
		}
	}
	return nil
}

// returned waits for a write's return; its outcome is in the record.
func returned(ctx context.Context, p *workload.Pending) error {
	if p == nil {
		return nil
	}
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the first write to return after its ACK: %w", ctx.Err())
	}
}
