package fault

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// binlogEnd returns the end of the source's binlog.
func (s *Site) binlogEnd(ctx context.Context) (observe.Position, error) {
	return observe.BinlogEnd(ctx, s.Cluster.Source().DB)
}

// find returns the last change that the binlog has of a write's row since a
// place that lies between two transactions: others may be writing too.
func (s *Site) find(ctx context.Context, from observe.Position, w workload.Write) (history.BinlogRow, bool, error) {
	source := s.Cluster.Source()
	table, err := observe.Describe(ctx, source.DB, observe.TableRef{Schema: s.Schema, Name: s.Table.Name})
	if err != nil {
		return history.BinlogRow{}, false, err
	}
	rows, err := observe.Binlog(ctx, source.DB, observe.BinlogSource{
		Server: source.Config(topology.Root(), ""), From: from, Schema: s.Schema, Table: s.Table.Name, Before: table,
	})
	if err != nil {
		return history.BinlogRow{}, false, err
	}
	for _, row := range slices.Backward(rows) {
		if row.Table == s.Table.Name && row.Key == w.Changes[0].Key {
			return row, true, nil
		}
	}
	return history.BinlogRow{}, false, nil
}

// answer is what came of a statement: nothing yet, success, or a refusal.
type answer struct {
	given   bool
	refused string // the server's error
}

// appliesOf returns what came of the statements of the step apply that the
// subject has sent since its stream brought a transaction; false if that has
// not come yet.
func (s *Site) appliesOf(change history.BinlogRow) ([]answer, bool) {
	marks := s.Recorder.Marks()
	at := slices.IndexFunc(marks, func(m history.Mark) bool {
		if m.Name != history.MarkStreamEvent || m.Data["file"] != change.File {
			return false
		}
		end, err := strconv.ParseUint(m.Data["pos"], 10, 64)
		return err == nil && change.Start < end && end <= change.End
	})
	if at < 0 {
		return nil, false
	}
	return appliesIn(marks[at:]), true
}

func appliesIn(marks []history.Mark) (all []answer) {
	place := map[string]int{}
	for _, m := range marks {
		if m.Step != string(step.Apply) {
			continue
		}
		i, sent := place[m.Data["occurrence"]]
		switch {
		case m.Name == history.MarkStepSent:
			place[m.Data["occurrence"]] = len(all)
			all = append(all, answer{})
		case m.Name == history.MarkStepReplied && sent:
			all[i] = answer{given: true, refused: m.Data["error"]}
		}
	}
	return all
}

func (a answer) applied() bool    { return a.given && a.refused == "" }
func (a answer) wasRefused() bool { return a.refused != "" }

// WaitApplyOrBlocked waits until the subject knows of a write, and has then
// had a statement of the step apply answered, or waits in one on the server,
// or for long in any other: a tool that protects itself by waiting must be let
// go, and one that doesn't has dealt with the write. The write may wait for its
// ACK.
func WaitApplyOrBlocked(w workload.Write) Action {
	return dealing("wait until the subject has dealt with "+w.SQL+" or waits", w, func(ctx context.Context, s *Site, applies []answer) (bool, error) {
		if slices.ContainsFunc(applies, func(a answer) bool { return a.given }) {
			return true, nil
		}
		return s.waits(ctx, ofOrStuck(step.Apply))
	})
}

// WaitApplyRefused waits until the subject knows of a write, and has then had
// a statement of the step apply refused, as one is that waited too long for a
// lock.
func WaitApplyRefused(w workload.Write) Action {
	return dealing("wait until the subject was refused to apply "+w.SQL, w, func(_ context.Context, _ *Site, applies []answer) (bool, error) {
		return slices.ContainsFunc(applies, answer.wasRefused), nil
	})
}

// dealing is an action that waits for what the subject does about a write that
// another one of the plan makes, be it long ago.
func dealing(name string, w workload.Write, done func(context.Context, *Site, []answer) (bool, error)) Action {
	return Action{Name: name, Steps: []step.Step{step.Apply}, Do: func(ctx context.Context, s *Site) error {
		var change history.BinlogRow
		err := every(ctx, func() (found bool, err error) {
			change, found, err = s.find(ctx, s.Start, w)
			return found, err
		})
		if err != nil {
			return fmt.Errorf("find the write in the binlog: %w", err)
		}
		return every(ctx, func() (bool, error) {
			applies, known := s.appliesOf(change)
			if !known {
				return false, nil
			}
			return done(ctx, s, applies)
		})
	}}
}
