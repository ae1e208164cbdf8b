package fault

import (
	"context"
	"fmt"

	"rowproof/harness/step"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Write commits writes as one transaction of the application.
func Write(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes), Writes: writes, Do: func(ctx context.Context, s *Site) error {
		return s.client().Do(ctx, writes...)
	}}
}

// WriteAndApply commits writes and waits until the subject has brought its
// shadow up to date with them: until its next statement of the step apply is
// answered. Nothing else may change rows meanwhile.
func WriteAndApply(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes) + " and let it be applied", Writes: writes, Do: func(ctx context.Context, s *Site) error {
		applied := s.Proxy.Gate(wire.Rule{Name: "applied", Step: step.Apply, Phase: wire.After, Occurrence: 1, Action: wire.Observe})
		defer applied.Remove()
		if err := s.client().Do(ctx, writes...); err != nil {
			return err
		}
		hit, err := applied.Wait(ctx)
		if err != nil {
			return fmt.Errorf("wait for the change to be applied: %w", err)
		}
		if hit.Reply.Err != nil {
			return fmt.Errorf("apply the change: the server refused it: %s", hit.Reply.Err.Message)
		}
		return nil
	}}
}

func summary(writes []workload.Write) string {
	text := ""
	for i, w := range writes {
		if i > 0 {
			text += "; "
		}
		text += w.SQL
	}
	return text
}
