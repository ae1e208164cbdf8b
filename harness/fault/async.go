package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/history"
)

// FallBackToAsync lets the source give up waiting for ACKs: none comes any
// more (the IO threads stop) and the timeout is a millisecond. From then on
// writes commit at once, and reach no replica. End brings both back and
// returns once the source waits for ACKs again.
//
// No write may be waiting for its ACK already: it would go on under the old
// timeout, and all others behind it.
func FallBackToAsync() Action {
	name := "let semi-sync fall back to async"
	return lasting(name, func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		ctx, cancel := settle(ctx)
		defer cancel()
		if !s.Cluster.Spec().SemiSync {
			return nil, errors.New("the cluster has no semi-sync: set Spec.SemiSync")
		}
		source := s.Cluster.Source()
		var timeout int64 // milliseconds
		if err := source.DB.QueryRowContext(ctx, "SELECT @@GLOBAL.rpl_semi_sync_source_timeout").Scan(&timeout); err != nil {
			return nil, fmt.Errorf("read the timeout of semi-sync: %w", err)
		}
		if err := StopIO().Do(ctx, s); err != nil {
			return nil, err
		}
		threads, _ := s.take(stopIO) // it ends with this action, not by itself
		end := func(ctx context.Context) error {
			if err := setTimeout(ctx, s, timeout); err != nil {
				return err
			}
			if err := threads.end(ctx); err != nil {
				return err
			}
			return seen(ctx, "the source waits for ACKs again", s.waitsForACKs)
		}
		if err := s.giveUp(ctx); err != nil {
			return nil, errors.Join(err, end(context.WithoutCancel(ctx)))
		}
		s.Recorder.Mark(history.Mark{Lane: source.Name, Name: history.MarkServer, Text: name, Data: map[string]string{"what": name}})
		return end, nil
	})
}

// giveUp has the source wait for an ACK that doesn't come in time.
func (s *Site) giveUp(ctx context.Context) error {
	if err := setTimeout(ctx, s, 1); err != nil {
		return err
	}
	return seen(ctx, "the source has fallen back", func(ctx context.Context) (bool, error) {
		source := s.Cluster.Source()
		// It is in the binlog, and nothing but that.
		if _, err := source.DB.ExecContext(ctx, "FLUSH OPTIMIZER_COSTS"); err != nil {
			return false, fmt.Errorf("write to the binlog: %w", err)
		}
		status, err := source.Status(ctx, "Rpl_semi_sync_source_status")
		return status == "OFF", err
	})
}

// waitsForACKs reports whether the source does. It fails if a replica can't
// read on, so that there will be none.
func (s *Site) waitsForACKs(ctx context.Context) (bool, error) {
	for _, replica := range s.Cluster.Replicas() {
		status, err := replica.ReplicaStatus(ctx)
		if err != nil {
			return false, err
		}
		if status["Replica_IO_Running"] == "No" {
			return false, fmt.Errorf("the IO thread of %s has ended: %s", replica.Name, status["Last_IO_Error"])
		}
	}
	status, err := s.Cluster.Source().Status(ctx, "Rpl_semi_sync_source_status")
	return status == "ON", err
}

func setTimeout(ctx context.Context, s *Site, milliseconds int64) error {
	_, err := s.Cluster.Source().DB.ExecContext(ctx, "SET GLOBAL rpl_semi_sync_source_timeout = ?", milliseconds)
	if err != nil {
		return fmt.Errorf("set the timeout of semi-sync: %w", err)
	}
	return nil
}
