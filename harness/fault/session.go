package fault

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// session is a session of somebody else on the source, as root and past every
// link, with the table's schema as default.
type session struct {
	server *topology.Server
	conn   *sql.Conn
	id     uint64
	sign   string // a user lock that it has for as long as it lives
}

// sessionPatience is how many seconds a session waits for a lock. One that a
// held subject has would otherwise be waited for until the run's limit.
const sessionPatience = 30

func (s *Site) session(ctx context.Context) (*session, error) {
	server := s.Cluster.Source()
	conn, err := server.DB.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	h := &session{server: server, conn: conn, sign: "rowproof " + rand.Text()}
	set := fmt.Sprintf("SET SESSION lock_wait_timeout = %[1]d, innodb_lock_wait_timeout = %[1]d", sessionPatience)
	for _, statement := range []string{"USE " + workload.Quote(s.Schema), set} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("open a session: %s: %w", statement, err), h.discard())
		}
	}
	var got sql.NullInt64 // always 1: nobody else has this name
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), GET_LOCK(?, 0)", h.sign).Scan(&h.id, &got); err != nil {
		return nil, errors.Join(fmt.Errorf("open a session: take its sign: %w", err), h.discard())
	}
	return h, nil
}

// exec sends statements.
func (h *session) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := h.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// close ends the session, and with it all that it holds. It returns once
// another session sees that it has gone; a server that does not run has none.
func (h *session) close(ctx context.Context) error {
	if err := h.discard(); err != nil {
		return err
	}
	return every(ctx, func() (bool, error) {
		var owner sql.NullInt64
		err := h.server.DB.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", h.sign).Scan(&owner)
		if err != nil && !h.server.Running() {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("wait for session %d to end: %w", h.id, err)
		}
		return !owner.Valid, nil
	})
}

func (h *session) discard() error {
	// What it was in the middle of must not return to the pool.
	_ = h.conn.Raw(func(any) error { return driver.ErrBadConn })
	if err := h.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return fmt.Errorf("close session %d: %w", h.id, err)
	}
	return nil
}

// with has a session do something and ends it.
func (s *Site) with(ctx context.Context, do func(*session) error) error {
	h, err := s.session(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(h), h.discard())
}

// holding is an action that goes on for as long as a session of its own holds
// what begin has it take. The session ends if begin fails.
func holding(name string, begin func(context.Context, *Site, *session) error) Action {
	return lasting(name, func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		h, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		if err := begin(ctx, s, h); err != nil {
			return nil, errors.Join(err, h.discard())
		}
		return h.close, nil
	})
}

// askEvery is how often a condition is looked at that nothing announces.
const askEvery = 5 * time.Millisecond

// every asks until done says so.
func every(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		ok, err := done()
		if err != nil && ctx.Err() != nil {
			return ctx.Err() // it was cut off in the middle
		}
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
