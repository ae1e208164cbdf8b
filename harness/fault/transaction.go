package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// OpenTransaction does writes in a transaction of the application that stays
// open until Commit or Rollback of this label; the end of the run rolls it
// back. Its rows, which must be there after the writes or have been there
// before, are locked meanwhile, and readers don't see the writes.
func OpenTransaction(label string, writes ...workload.Write) Action {
	return undecided(label, "open a transaction: "+summary(writes), writes, func(ctx context.Context, s *Site) (commit, rollback func(context.Context) error, err error) {
		open, err := s.client().Begin(ctx, writes...)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range writes {
			if err := s.seeOpen(ctx, w); err != nil {
				return nil, nil, errors.Join(err, open.Rollback(ctx))
			}
		}
		return open.Commit, open.Rollback, nil
	})
}

// seeOpen finds that a write is done and not committed.
func (s *Site) seeOpen(ctx context.Context, w workload.Write) error {
	shown, err := s.shown(ctx, w)
	if err == nil && shown {
		err = fmt.Errorf("the write is visible before it is committed: %s", w.SQL)
	}
	if err != nil {
		return err
	}
	for _, c := range w.Changes {
		keys := []history.Key{c.Key}
		if c.Kind == history.Move {
			keys = append(keys, c.NewKey)
		}
		if err := s.seeLocked(ctx, Original, keys...); err != nil {
			return err
		}
	}
	return nil
}

// undecided is an action that goes on until it is committed or rolled back.
func undecided(label, name string, writes []workload.Write, begin func(context.Context, *Site) (commit, rollback func(context.Context) error, err error)) Action {
	return Action{Name: name, Label: label, Writes: writes, Do: func(ctx context.Context, s *Site) error {
		commit, rollback, err := begin(ctx, s)
		if err != nil {
			return err
		}
		s.keep(effect{label: label, name: name, end: rollback, commit: commit})
		return nil
	}}
}

// Commit commits the open transaction with this label.
func Commit(label string) Action { return decide("commit", label, true) }

// Rollback rolls the open transaction with this label back.
func Rollback(label string) Action { return decide("roll back", label, false) }

func decide(how, label string, commit bool) Action {
	return Action{Name: how + ": " + label, Do: func(ctx context.Context, s *Site) error {
		e, ok := s.take(label)
		if !ok {
			return errors.New("no transaction of this name is open")
		}
		if e.commit == nil {
			s.keep(e)
			return fmt.Errorf("%q is no transaction: end it by End", e.name)
		}
		decided := e
		if commit {
			decided.end = e.commit
		}
		return s.finishEffect(ctx, decided)
	}}
}
