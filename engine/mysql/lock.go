package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Lock is an advisory lock of the server (GET_LOCK), held by a session of
// its own until Release or until that session ends.
type Lock struct {
	conn *sql.Conn
	name string
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
	err = conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, int(within.Seconds())).Scan(&got)
	if err != nil || got.Int64 != 1 {
		conn.Close()
		if err == nil {
			err = ErrLocked
		}
		return nil, fmt.Errorf("take advisory lock %s: %w", name, err)
	}
	return &Lock{conn: conn, name: name}, nil
}

// Watch checks every few seconds that the session still holds the lock, and
// returns an error when it does not. It returns nil when ctx ends.
func (l *Lock) Watch(ctx context.Context) error {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var mine sql.NullBool
		err := l.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", l.name).Scan(&mine)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("watch advisory lock %s: %w", l.name, err)
		case !mine.Bool:
			return fmt.Errorf("watch advisory lock %s: lost, another migration of the table could start", l.name)
		}
	}
}

// Release gives the lock back by ending nothing but the lock: the session
// returns to the pool.
func (l *Lock) Release(ctx context.Context) error {
	_, err := l.conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", l.name)
	return errors.Join(err, l.conn.Close())
}
