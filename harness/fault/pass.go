package fault

import (
	"context"
	"fmt"

	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// WriteAndPass commits writes as one transaction and returns once the subject
// is done with their events, whether it applied or dropped them: once it has
// applied marker, which is committed behind them. So marker must be a change
// that the subject can't drop. A subject that does one thing at a time is not
// waited for: see WriteAndApply.
func WriteAndPass(marker workload.Write, writes ...workload.Write) Action {
	name := "write " + summary(writes) + " and let it pass"
	return Action{
		Name: name, Writes: append([]workload.Write{marker}, writes...), Steps: []step.Step{step.Apply},
		Do: func(ctx context.Context, s *Site) error { return s.writeAndPass(ctx, name, marker, writes) },
	}
}

func (s *Site) writeAndPass(ctx context.Context, name string, marker workload.Write, writes []workload.Write) error {
	if err := s.client().Do(ctx, writes...); err != nil {
		return err
	}
	from, err := s.binlogEnd(ctx)
	if err != nil {
		return err
	}
	if err := s.client().Do(ctx, marker); err != nil {
		return err
	}
	change, found, err := s.find(ctx, from, marker)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("the binlog has no change of row %s, the marker", marker.Changes[0].Key)
	}
	// What was on its way already is about what came before.
	err = s.untilApplied(ctx, name, func() []answer { applies, _ := s.appliesOf(change); return applies })
	if err != nil {
		return fmt.Errorf("wait for the marker to be applied: %w", err)
	}
	return nil
}
