package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rowproof/harness/wire"
)

// errNoSuchThread is the server's answer to a kill of a session that is gone.
const errNoSuchThread = 1094

// Kill ends sessions (KILL CONNECTION), and returns once they are gone from
// the processlist.
func Kill(which Sessions) Action {
	return Action{Name: "kill " + which.name, Steps: which.steps, Do: func(ctx context.Context, s *Site) error {
		ctx, cancel := settle(ctx)
		defer cancel()
		sessions, err := which.all(ctx, s)
		if err != nil {
			return err
		}
		for _, one := range sessions {
			if err := one.kill(ctx, "CONNECTION"); err != nil {
				return err
			}
		}
		for _, one := range sessions {
			err := seen(ctx, fmt.Sprintf("session %d of %s is gone", one.id, one.server.Name), func(ctx context.Context) (bool, error) {
				_, there, err := one.statement(ctx)
				return !there, err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}}
}

// KillQuery ends the statements that sessions are in (KILL QUERY); the
// sessions stay. It returns once the statements have ended, and those of the
// subject with error 1317, which the subject has been sent.
func KillQuery(which Sessions) Action {
	return Action{Name: "kill the statement of " + which.name, Steps: which.steps, Do: func(ctx context.Context, s *Site) error {
		ctx, cancel := settle(ctx)
		defer cancel()
		sessions, err := which.all(ctx, s)
		if err != nil {
			return err
		}
		for _, one := range sessions {
			if err := one.interrupt(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}}
}

// interrupt kills until the statement has ended: a kill that comes before the
// server has begun with it has no effect.
func (one sessionOn) interrupt(ctx context.Context, s *Site) error {
	ended, done, err := one.ends(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	what := fmt.Sprintf("the statement of session %d of %s has ended", one.id, one.server.Name)
	return seen(ctx, what, func(ctx context.Context) (bool, error) {
		if ok, err := ended(ctx); ok || err != nil {
			return ok, err
		}
		return false, one.kill(ctx, "QUERY")
	})
}

// ends returns what reports whether the statement that the session is in now
// has ended. One of the subject's must end with the error of a kill; with
// anything else, the kill came too late. The subject does not get that answer
// before done is called: one more kill would end its next statement.
func (one sessionOn) ends(ctx context.Context, s *Site) (ended func(context.Context) (bool, error), done func(), err error) {
	if !one.subject {
		before, _, err := one.statement(ctx)
		if err == nil && before == "" {
			err = fmt.Errorf("session %d of %s is in no statement", one.id, one.server.Name)
		}
		return func(ctx context.Context) (bool, error) {
			now, _, err := one.statement(ctx)
			return now != before, err
		}, func() {}, err
	}
	reply := s.Proxy.Gate(wire.Rule{Name: "the killed statement is answered", Thread: uint32(one.id), Phase: wire.After, Action: wire.Hold, Occurrence: 1})
	return func(context.Context) (bool, error) {
		select {
		case hit := <-reply.Reached():
			switch {
			case hit.Reply.Err == nil:
				return false, errors.New("it was done before the kill, or in spite of it")
			case hit.Reply.Err.Code != errInterrupted:
				return false, hit.Reply.Err
			}
			return true, nil
		default:
			return false, nil
		}
	}, reply.Remove, nil
}

// kill sends KILL. A session that has ended by itself is no error.
func (one sessionOn) kill(ctx context.Context, what string) error {
	_, err := one.server.DB.ExecContext(ctx, fmt.Sprintf("KILL %s %d", what, one.id))
	if err == nil || isCode(err, errNoSuchThread) {
		return nil
	}
	return fmt.Errorf("kill session %d of %s: %w", one.id, one.server.Name, err)
}

// statement returns what the session is in, "" for nothing, and whether it is
// there at all.
func (one sessionOn) statement(ctx context.Context) (text string, there bool, err error) {
	var command string
	var info sql.NullString
	err = one.server.DB.QueryRowContext(ctx,
		"SELECT COMMAND, INFO FROM information_schema.PROCESSLIST WHERE ID = ?", one.id).Scan(&command, &info)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("look at session %d of %s: %w", one.id, one.server.Name, err)
	}
	return info.String, true, nil
}
