package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// WriteAndPass commits writes as one transaction and returns once the subject
// is done with their events, whether it applied or dropped them: once it has
// applied marker, which is committed behind them. So marker must be a change
// that the subject can't drop. Nothing else may change rows meanwhile. A
// subject that does one thing at a time is not waited for: see WriteAndApply.
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
	end, err := s.Cluster.Source().BinlogEnd(ctx)
	if err != nil {
		return err
	}
	delivered := s.Proxy.EventGate(wire.EventRule{Name: "marker delivered", Action: wire.Observe, Match: func(e wire.Event) bool {
		behind := wire.LogSpot{File: e.File, Pos: e.Start}.AtLeast(wire.LogSpot{File: end.File, Pos: end.Pos})
		return behind && s.migrates(e) && (e.Kind == wire.EventRows || e.Kind == wire.EventPayload)
	}})
	defer delivered.Remove()
	applied := s.Proxy.Gate(wire.Rule{Name: "marker applied", Step: step.Apply, Phase: wire.Committed, Action: wire.Observe})
	defer applied.Remove()
	if err := s.client().Do(ctx, marker); err != nil {
		return err
	}
	seen, err := delivered.Wait(ctx)
	if err != nil {
		return fmt.Errorf("wait for the stream to bring the marker: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, applyPatience)
	defer cancel()
	for {
		hit, err := applied.Wait(patient)
		switch {
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			s.Recorder.Mark(history.Mark{Lane: "fault", Name: history.MarkUnapplied, Text: name})
			return nil
		case err != nil:
			return fmt.Errorf("wait for the marker to be applied: %w", err)
		case hit.Command.Sent.Before(seen.At):
			// It was on its way already, and is about what came before.
		case hit.Reply.Err != nil:
			return fmt.Errorf("apply the marker: the server refused it: %s", hit.Reply.Err.Message)
		default:
			return nil
		}
	}
}
