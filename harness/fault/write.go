package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Write commits writes as one transaction of the application. It has fired
// too where a column does not take a value: that is in the record, and for the
// checkers to judge.
func Write(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes), Writes: writes, Do: func(ctx context.Context, s *Site) error {
		err := s.client().Do(ctx, writes...)
		var refused *mysql.MySQLError
		if errors.As(err, &refused) && history.Misfit(refused.Number) {
			return nil
		}
		return err
	}}
}

// WriteAndApply commits writes and waits until the subject has brought its
// shadow up to date with them: until its next statement of the step apply is
// answered. Nothing else may change rows meanwhile. A subject that does one
// thing at a time can't apply while another statement of it is held, which
// protects it: after a while the fault goes on, and the record says so.
func WriteAndApply(writes ...workload.Write) Action {
	name := "write " + summary(writes) + " and let it be applied"
	return Action{Name: name, Writes: writes, Steps: []step.Step{step.Apply}, Do: func(ctx context.Context, s *Site) error {
		applied := s.Proxy.Gate(wire.Rule{Name: "applied", Step: step.Apply, Phase: wire.Committed, Occurrence: 1, Action: wire.Observe})
		defer applied.Remove()
		if err := s.client().Do(ctx, writes...); err != nil {
			return err
		}
		patient, cancel := context.WithTimeout(ctx, applyPatience)
		defer cancel()
		hit, err := applied.Wait(patient)
		switch {
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			s.Recorder.Mark(history.Mark{Lane: "fault", Name: history.MarkUnapplied, Text: name})
			return nil
		case err != nil:
			return fmt.Errorf("wait for the change to be applied: %w", err)
		case hit.Reply.Err != nil:
			return fmt.Errorf("apply the change: the server refused it: %s", hit.Reply.Err.Message)
		}
		return nil
	}}
}

// applyPatience is how long a subject may take to apply a change. The event
// is there at once, so one that applies beside what is held needs
// milliseconds.
const applyPatience = 5 * time.Second

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
