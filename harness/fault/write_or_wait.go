package fault

import (
	"context"

	"rowproof/harness/workload"
)

// WriteOrWait sends writes as one transaction, and returns once it has been
// committed, or is seen to wait for the lock of a table: then it goes on when
// that is free. So it comes in where a tool has left a gap, and a tool that
// has left none isn't waited for.
func WriteOrWait(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes) + " as soon as the table can be written", Writes: writes, Do: func(ctx context.Context, s *Site) error {
		client := s.client()
		thread, err := client.ThreadID(ctx)
		if err != nil {
			return err
		}
		// The write outlives the fault: it ends when the lock is free.
		pending, err := client.Start(context.WithoutCancel(ctx), writes...)
		if err != nil {
			return err
		}
		s.leave(pending)
		return seen(ctx, "the write is done or waits", func(ctx context.Context) (waits bool, err error) {
			select {
			case <-pending.Done():
				return true, pending.Wait(ctx)
			default:
			}
			return s.waitsForTable(ctx, thread)
		})
	}}
}
