package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Lock is an advisory lock of the server (GET_LOCK), held by a session of
// its own until Release or until that session ends.
type Lock struct {
	server *Server
	name   string

	mu      sync.Mutex
	conn    *sql.Conn
	session int64 // the server's id of it
}

// ErrLocked means that another session holds the advisory lock.
var ErrLocked = errors.New("held by another session")

// LockName returns the advisory lock's name for a table: at most 64
// characters, which is what the server allows.
func LockName(purpose, schema, table string) string {
	name := "osc-" + purpose + ":" + schema + "." + table
	if len(name) <= 64 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "osc-" + purpose + ":" + hex.EncodeToString(sum[:16])
}

// Acquire takes an advisory lock, waiting at most for the given time, which
// the server counts in whole seconds. It returns ErrLocked if the lock is
// still held by another session then.
func (s *Server) Acquire(ctx context.Context, name string, within time.Duration) (*Lock, error) {
	conn, err := s.DDL.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("take advisory lock %s: %w", name, err)
	}
	var got sql.NullInt64
	var session int64
	err = conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?), CONNECTION_ID()", name, int(within.Seconds())).Scan(&got, &session)
	if err != nil || got.Int64 != 1 {
		conn.Close()
		if err == nil {
			err = ErrLocked
		}
		return nil, fmt.Errorf("take advisory lock %s: %w", name, err)
	}
	return &Lock{server: s, name: name, conn: conn, session: session}, nil
}

// Watch checks every few seconds that the lock is held, as Hold does, and
// returns an error when it can't be. It returns nil when ctx ends.
func (l *Lock) Watch(ctx context.Context) error {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := l.Hold(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("watch advisory lock: %w", err)
		}
	}
}

// Hold returns nil if we have the lock. If its session is gone, as after a
// restart of the server, it takes the lock again, for as long as ctx lasts;
// ErrLocked means that another session was faster.
func (l *Lock) Hold(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine sql.NullBool
	err := l.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", l.name).Scan(&mine)
	if err == nil && !mine.Bool {
		return fmt.Errorf("advisory lock %s: lost, another migration of the table could start", l.name)
	}
	if ConnectionLost(err) {
		return Persist(ctx, func() error { return l.again(ctx) })
	}
	return err
}

// again takes the lock once more. The server may not have noticed yet that our
// session is gone, and is waited for; nobody else is.
func (l *Lock) again(ctx context.Context) error {
	var holder sql.NullInt64
	if err := l.server.DDL.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", l.name).Scan(&holder); err != nil {
		return fmt.Errorf("look for the holder of advisory lock %s: %w", l.name, err)
	}
	var within time.Duration
	if holder.Valid && holder.Int64 == l.session {
		within = untilNoticed
	}
	taken, err := l.server.Acquire(ctx, l.name, within)
	if err != nil {
		return err
	}
	_ = l.conn.Close()
	l.conn, l.session = taken.conn, taken.session
	return nil
}

// untilNoticed is how long the server may take to notice that a session of
// ours is gone.
const untilNoticed = 10 * time.Second

// Release gives the lock back by ending nothing but the lock: the session
// returns to the pool. If the session is gone, so is the lock.
func (l *Lock) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", l.name)
	if closed := l.conn.Close(); err == nil {
		err = closed
	}
	if ConnectionLost(err) {
		return nil
	}
	return err
}
