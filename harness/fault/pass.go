package fault

import (
	"context"
	"fmt"
	"slices"

	"rowproof/harness/workload"
)

// WriteAndPass commits writes as one transaction and returns once the subject
// is done with their events, whether it applied or dropped them: once it has
// applied marker, which is committed behind them. So marker must be a change
// that the subject can't drop.
func WriteAndPass(marker workload.Write, writes ...workload.Write) Action {
	return Action{
		Name: "write " + summary(writes) + " and let it pass", Writes: append([]workload.Write{marker}, writes...),
		Do: func(ctx context.Context, s *Site) error { return s.writeAndPass(ctx, marker, writes) },
	}
}

func (s *Site) writeAndPass(ctx context.Context, marker workload.Write, writes []workload.Write) error {
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
	err = every(ctx, func() (bool, error) {
		applies, _ := s.appliesOf(change)
		return slices.ContainsFunc(applies, answer.applied), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the marker to be applied: %w", err)
	}
	return nil
}
