package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"rowproof/engine/cutover"
	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// errDone ends a run before its last phase: there is nothing left to do.
var errDone = errors.New("nothing is left to do")

// tryInstant lets the server change the definition by itself, if it can do
// so without touching a row. Like a cut-over it waits for the table for a
// bounded time, since everyone else waits behind it.
func (m *migration) tryInstant(ctx context.Context) error {
	if !m.cfg.AttemptInstant || m.resumed != nil {
		return nil
	}
	conn, err := m.server.DDL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("try ALGORITHM=INSTANT: %w", err)
	}
	defer conn.Close()
	// As long as that session lives, it holds this lock: see findOutInstant.
	presence := mysql.LockName("instant", m.names.original.Schema, m.names.original.Name)
	before, err := m.server.ReadTable(ctx, m.names.original)
	if err != nil {
		return err
	}
	for _, s := range []string{
		fmt.Sprintf("SET SESSION lock_wait_timeout = %d", max(1, int(m.cfg.CutOver.Wait.Seconds()))),
		"DO GET_LOCK(" + ddl.QuoteString(presence) + ", 0)",
	} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("try ALGORITHM=INSTANT: %w", err)
		}
	}
	_, err = conn.ExecContext(ctx, mysql.Step("instant", "ALTER TABLE "+m.names.original.Quoted()+" ALGORITHM=INSTANT, "+m.alter.Text))
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // its settings and its lock end with it
	switch {
	case err == nil:
		m.summary.Instant = true
		return errDone
	case mysql.ErrorNumber(err) == 0 || mysql.ConnectionLost(err):
		return m.findOutInstant(ctx, presence, before)
	}
	m.cfg.Log.Info("ALGORITHM=INSTANT is not possible, so the table is copied", "the server says", mysql.ErrorMessage(err))
	return nil
}

// findOutInstant learns whether an ALTER whose reply was lost was done. The
// session that sent it may still be at it, until its lock is free.
func (m *migration) findOutInstant(ctx context.Context, presence string, before ddl.Table) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	ended, err := m.server.Acquire(ctx, presence, time.Minute)
	if err != nil {
		return fmt.Errorf("%w by ALGORITHM=INSTANT: %w", errUnknown, err)
	}
	defer ended.Release(ctx) //nolint:errcheck // the session ends soon in any case
	now, err := m.server.ReadTable(ctx, m.names.original)
	switch {
	case err != nil:
		return fmt.Errorf("%w by ALGORITHM=INSTANT: %w", errUnknown, err)
	case definition(now) == definition(before):
		return errors.New("try ALGORITHM=INSTANT: the connection was lost before the server did it")
	}
	m.summary.Instant = true
	return errDone
}

// errUnknown makes the outcome one that needs a person.
var errUnknown = unknown{}

type unknown struct{}

func (unknown) Error() string        { return "it is not known whether the server changed the table" }
func (unknown) Is(target error) bool { return target == cutover.ErrUndecided }
