package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
	"rowproof/harness/step"
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
// shadow up to date with them: until its stream has brought the first, and a
// statement of the step apply that it has sent since is answered; of a subject
// without a stream, one that it has sent since the commit. A subject that does
// one thing at a time can't apply while another statement of it is held, which
// protects it: after a while the fault goes on, and the record says so.
func WriteAndApply(writes ...workload.Write) Action {
	name := "write " + summary(writes) + " and let it be applied"
	return Action{Name: name, Writes: writes, Steps: []step.Step{step.Apply}, Do: func(ctx context.Context, s *Site) error {
		from, err := s.binlogEnd(ctx)
		if err != nil {
			return err
		}
		before := len(s.Recorder.Marks())
		if err := s.client().Do(ctx, writes...); err != nil {
			return err
		}
		applies := func() []answer { return appliesIn(s.Recorder.Marks()[before:]) }
		if len(s.Proxy.Streams()) > 0 {
			change, found, err := s.find(ctx, from, writes[0])
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("the binlog has no change of row %s", writes[0].Changes[0].Key)
			}
			applies = func() []answer { all, _ := s.appliesOf(change); return all }
		}
		if err := s.untilApplied(ctx, name, applies); err != nil {
			return fmt.Errorf("wait for the change to be applied: %w", err)
		}
		return nil
	}}
}

// applyPatience is how long a subject may take to apply a change. The event
// is there at once, so one that applies beside what is held needs
// milliseconds.
const applyPatience = 5 * time.Second

// untilApplied waits for an apply of the subject that went well, or for as long
// as that may take; then the record says of the action that it did not come.
func (s *Site) untilApplied(ctx context.Context, action string, applies func() []answer) error {
	patient, cancel := context.WithTimeout(ctx, applyPatience)
	defer cancel()
	err := every(patient, func() (bool, error) { return slices.ContainsFunc(applies(), answer.applied), nil })
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		s.Recorder.Mark(history.Mark{Lane: "fault", Name: history.MarkUnapplied, Text: action})
		return nil
	}
	return err
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
