// Package cutover swaps the shadow for the original in one step.
//
// One session locks both tables, the last changes are applied in it, and the
// same session renames both tables under its lock. So no reader finds a
// table missing, no writer slips in between, and if that session dies at any
// moment, its locks go with it and the original is still in its place, whole.
// Read Swap.Try.
package cutover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Swap is one cut-over.
type Swap struct {
	Server   *mysql.Server
	Original ddl.TableName
	Shadow   ddl.TableName
	Old      ddl.TableName // the original's name afterwards

	// Wait bounds how long writers are kept waiting, from the request of the
	// lock on, which already holds up everyone behind it. Only the swap itself,
	// whose outcome must be known, is waited for without a bound.
	Wait time.Duration

	// Drain returns when the stream has passed everything that was committed
	// before the lock. Statements returns what the last changes need, to be
	// run by the session that holds the lock.
	Drain      func(ctx context.Context) error
	Statements func() []string

	// Expect hears of each statement that changes a definition before it is
	// run, word for word as the binlog will have it.
	Expect func(statement string)

	// NextNumber, if set, is the AUTO_INCREMENT that the ALTER asks for. At
	// 0 the original's goes over.
	NextNumber uint64
	Numbered   bool // the shadow has an AUTO_INCREMENT column
}

// ErrBusy means that the lock, or what had to be done under it, took longer
// than Swap.Wait or could not be done. Nothing is swapped and nothing is
// locked; another try may succeed.
var ErrBusy = errors.New("tables are busy")

// ErrUndecided means that it could not be found out whether the tables were
// swapped.
var ErrUndecided = errors.New("it is not known whether the tables were swapped")

// Try locks, drains and swaps, once.
func (s Swap) Try(ctx context.Context) error {
	conn, err := s.Server.DB.Conn(ctx)
	if err != nil {
		return notLocked(err)
	}
	defer conn.Close()
	presence, err := s.announce(ctx, conn)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(s.Wait)
	if err := s.lock(ctx, conn); err != nil {
		return errors.Join(err, s.withdraw(ctx, conn, presence))
	}
	if err := s.finish(ctx, conn, deadline); err != nil {
		return errors.Join(err, s.unlock(ctx, conn), s.withdraw(ctx, conn, presence))
	}
	err = s.define(ctx, conn, mysql.Step("rename", fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s",
		s.Original.Quoted(), s.Old.Quoted(), s.Shadow.Quoted(), s.Original.Quoted())))
	if mysql.ErrorNumber(err) != 0 && !mysql.ConnectionLost(err) {
		return errors.Join(fmt.Errorf("swap tables: %w", err), s.unlock(ctx, conn), s.withdraw(ctx, conn, presence))
	}
	if err != nil {
		return s.findOut(ctx, presence)
	}
	// The tables are swapped, whatever happens to this session now.
	_ = s.unlock(ctx, conn)
	_ = s.withdraw(ctx, conn, presence)
	return nil
}

// define runs a statement that changes a definition.
func (s Swap) define(ctx context.Context, conn *sql.Conn, statement string) error {
	s.Expect(statement)
	_, err := conn.ExecContext(ctx, statement)
	return err
}

// announce takes an advisory lock in the session that will do the swap: as
// long as that session lives on the server, it holds it. See findOut.
func (s Swap) announce(ctx context.Context, conn *sql.Conn) (name string, err error) {
	name = mysql.LockName("swap", s.Original.Schema, s.Original.Name)
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", name).Scan(&got); err != nil {
		return "", notLocked(err)
	}
	if got.Int64 != 1 {
		return "", fmt.Errorf("lock tables: advisory lock %s: %w", name, mysql.ErrLocked)
	}
	return name, nil
}

func (s Swap) withdraw(ctx context.Context, conn *sql.Conn, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", name)
	if mysql.ConnectionLost(err) {
		return nil // the lock went with the session
	}
	return err
}

func (s Swap) lock(ctx context.Context, conn *sql.Conn) error {
	seconds := max(1, int(s.Wait.Seconds()))
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", seconds)); err != nil {
		return notLocked(err)
	}
	query := fmt.Sprintf("LOCK TABLES %s WRITE, %s WRITE", s.Original.Quoted(), s.Shadow.Quoted())
	_, err := conn.ExecContext(ctx, mysql.Step("lock", query))
	return notLocked(err)
}

// notLocked is an error from before the tables were locked, or nil.
func notLocked(err error) error {
	switch {
	case err == nil:
		return nil
	case mysql.Retryable(err):
		return fmt.Errorf("lock tables: %w: %w", ErrBusy, err)
	}
	return fmt.Errorf("lock tables: %w", err)
}

// finish brings the shadow up to date while nobody can write the original.
func (s Swap) finish(ctx context.Context, conn *sql.Conn, deadline time.Time) error {
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err := s.Drain(limited)
	for _, statement := range s.pending(err) {
		if _, err = conn.ExecContext(limited, mysql.Step("apply", statement)); err != nil {
			if mysql.ErrorNumber(err) != 0 {
				// A row that doesn't fit, perhaps: before the next try the applier
				// comes to it, and names it.
				err = fmt.Errorf("%w: %w", ErrBusy, err)
			}
			break
		}
	}
	if err == nil {
		err = s.carryNumber(limited, conn)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("apply last changes: %w: not done after %v", ErrBusy, s.Wait)
	}
	if mysql.ConnectionLost(err) {
		return fmt.Errorf("apply last changes: %w: the connection was lost: %w", ErrBusy, err)
	}
	if err != nil {
		return fmt.Errorf("apply last changes: %w", err)
	}
	return nil
}

func (s Swap) pending(drained error) []string {
	if drained != nil {
		return nil
	}
	return s.Statements()
}

// carryNumber makes the next AUTO_INCREMENT number go on where the original
// is now: it may be higher than any row's.
func (s Swap) carryNumber(ctx context.Context, conn *sql.Conn) error {
	if !s.Numbered {
		return nil
	}
	want, err := mysql.NextAutoIncrement(ctx, conn, s.Original)
	if err != nil {
		return err
	}
	want = max(want, s.NextNumber)
	have, err := mysql.NextAutoIncrement(ctx, conn, s.Shadow)
	if err != nil || have >= want {
		return err
	}
	return s.define(ctx, conn, mysql.Step("apply", fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", s.Shadow.Quoted(), want)))
}

func (s Swap) unlock(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := conn.ExecContext(ctx, mysql.Step("unlock", "UNLOCK TABLES"))
	if mysql.ConnectionLost(err) {
		return nil // the locks went with the session
	}
	return err
}

// findOut learns whether a RENAME whose reply was lost was done. The session
// that sent it may still be at it: while it lives it holds the advisory
// lock, so getting that lock says that it has ended, one way or the other.
func (s Swap) findOut(ctx context.Context, presence string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 60*time.Second)
	defer cancel()
	ended, err := s.ended(ctx, presence)
	if err != nil {
		return fmt.Errorf("swap tables: %w: %w", ErrUndecided, err)
	}
	defer ended.Release(ctx) //nolint:errcheck // the session ends soon in any case
	old, err := s.Server.Exists(ctx, s.Old)
	if err != nil {
		return fmt.Errorf("swap tables: %w: %w", ErrUndecided, err)
	}
	shadow, err := s.Server.Exists(ctx, s.Shadow)
	if err != nil {
		return fmt.Errorf("swap tables: %w: %w", ErrUndecided, err)
	}
	switch {
	case old && !shadow:
		return nil
	case shadow && !old:
		return fmt.Errorf("swap tables: %w: the connection was lost before the swap", ErrBusy)
	}
	return fmt.Errorf("swap tables: %w: %s exists: %v, %s exists: %v", ErrUndecided, s.Old, old, s.Shadow, shadow)
}

// ended returns, holding the advisory lock, when no session holds it any
// more. It tries again while the server can't be reached.
func (s Swap) ended(ctx context.Context, presence string) (*mysql.Lock, error) {
	for {
		lock, err := s.Server.Acquire(ctx, presence, time.Second)
		if err == nil || ctx.Err() != nil {
			return lock, err
		}
		mysql.Wait(ctx, 100*time.Millisecond)
	}
}
