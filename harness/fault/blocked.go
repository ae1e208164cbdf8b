package fault

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// OnceReadOrWaiting acts once the subject has the answer to its first
// statement of the step read, or is seen waiting on the server in that
// statement or in one of the other steps, or for long in any other. Nothing is
// held: a tool that protects itself by waiting must be let go, and one that
// doesn't has read what it will go by.
func OnceReadOrWaiting(read step.Step, others ...step.Step) Fault {
	return Fault{moment: onceReadOrWaiting(read, others)}
}

// Then gives a moment more actions.
func (f Fault) Then(actions ...Action) Fault {
	f.actions = append(slices.Clip(f.actions), actions...)
	return f
}

func onceReadOrWaiting(read step.Step, others []step.Step) moment {
	name := "once " + string(read) + " is answered or waits"
	steps := append([]step.Step{read}, others...)
	return moment{name: name, steps: []step.Step{read}, arm: func(site *Site) (func(context.Context) error, func()) {
		gate := site.Proxy.Gate(wire.Rule{Name: name, Step: read, Phase: wire.After, Occurrence: 1, Action: wire.Observe})
		wait := func(ctx context.Context) error {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-gate.Reached():
					return nil
				case <-tick.C:
				}
				waiting, err := site.waits(ctx, ofOrStuck(steps...))
				if err != nil {
					return err
				}
				if waiting {
					return nil
				}
			}
		}
		return wait, gate.Remove
	}}
}

// stuckAfter is how long a statement must have waited to show that the subject
// will not come to a step that is milliseconds away: its clock, say, is a row
// that it writes, and while that waits for its ACK it holds still.
const stuckAfter = 3 * time.Second

// of picks statements of these steps.
func of(steps ...step.Step) func(wire.Command) bool {
	return func(c wire.Command) bool { return slices.Contains(steps, c.Step) }
}

// ofOrStuck picks statements of these steps, and all that have gone on for
// long.
func ofOrStuck(steps ...step.Step) func(wire.Command) bool {
	return func(c wire.Command) bool { return slices.Contains(steps, c.Step) || time.Since(c.Sent) > stuckAfter }
}

// waits asks the server whether a statement of the subject that concerns us is
// waiting for a lock, of rows or of the table, or for an ACK.
func (s *Site) waits(ctx context.Context, concerns func(wire.Command) bool) (bool, error) {
	for _, command := range s.Proxy.InFlight() {
		if !concerns(command) {
			continue
		}
		waiting, err := s.threadWaits(ctx, uint64(command.ServerThread))
		if err != nil {
			return false, fmt.Errorf("ask whether %s waits: %w", command.Step, err)
		}
		// The thread may have come to its next statement before the server
		// was asked.
		if waiting && slices.ContainsFunc(s.Proxy.InFlight(), func(c wire.Command) bool {
			return c.Conn == command.Conn && c.Sent.Equal(command.Sent)
		}) {
			return true, nil
		}
	}
	return false, nil
}

func (s *Site) threadWaits(ctx context.Context, thread uint64) (waits bool, err error) {
	if waits, err := s.waitsForRow(ctx, thread); waits || err != nil {
		return waits, err
	}
	err = s.Cluster.Source().DB.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND (STATE IN (?, ?) OR STATE LIKE ?))",
		thread, "Waiting for semi-sync ACK from replica", "waiting for handler commit", "Waiting for % lock").Scan(&waits)
	return waits, err
}
