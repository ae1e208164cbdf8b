package engine

import (
	"context"
	"errors"
	"fmt"

	"rowproof/engine/cutover"
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
	wait := fmt.Sprintf("SET SESSION lock_wait_timeout = %d", max(1, int(m.cfg.CutOver.Wait.Seconds())))
	if _, err := conn.ExecContext(ctx, wait); err != nil {
		return fmt.Errorf("try ALGORITHM=INSTANT: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SET SESSION lock_wait_timeout = 60") //nolint:errcheck // as the pool's other sessions
	_, err = conn.ExecContext(ctx, mysql.Step("instant", "ALTER TABLE "+m.names.original.Quoted()+" ALGORITHM=INSTANT, "+m.alter.Text))
	switch {
	case err == nil:
		m.summary.Instant = true
		return errDone
	case mysql.ErrorNumber(err) == 0 || mysql.ConnectionLost(err):
		// Whether it was done can't be told from here: the same ALTER may
		// change the table a second time.
		return fmt.Errorf("%w: ALTER TABLE with ALGORITHM=INSTANT got no answer (%w): look at the definition of %s",
			cutover.ErrUndecided, err, m.names.original)
	}
	m.cfg.Log.Info("ALGORITHM=INSTANT is not possible, so the table is copied", "the server says", mysql.ErrorMessage(err))
	return nil
}
