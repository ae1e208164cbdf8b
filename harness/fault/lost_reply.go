package fault

import (
	"context"
	"fmt"

	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// WriteAndLoseReply sends a write, which must wait for its ACK, and kills its
// connection while it waits: the client never learns the outcome, and the
// write commits when the ACK comes.
func WriteAndLoseReply(w workload.Write) Action {
	return Action{Name: "write " + w.SQL + ", whose reply is lost", Writes: []workload.Write{w}, Do: func(ctx context.Context, s *Site) error {
		pending, thread, err := s.writeUnacked(ctx, w)
		if err != nil {
			return err
		}
		if _, err := s.Cluster.Source().DB.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", thread)); err != nil {
			return fmt.Errorf("kill the write's connection: %w", err)
		}
		select {
		case <-pending.Done():
		case <-ctx.Done():
			return fmt.Errorf("wait for the write to be cut off: %w", ctx.Err())
		}
		if got := s.Recorder.Ops()[pending.ID-1].Outcome; got != history.Unknown {
			return fmt.Errorf("the write's outcome is %s: its reply was not lost", got)
		}
		return nil
	}}
}
