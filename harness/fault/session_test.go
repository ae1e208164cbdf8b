package fault_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/topology"
)

// watched is one server with its performance schema.
var watched = topology.Spec{GTID: true, PerformanceSchema: true}

// Another session finds that it can't change a table's definition, or its
// rows, for as long as the fault goes on.
func TestMetadataLock(t *testing.T) {
	for name, spec := range map[string]topology.Spec{"BySchema": watched, "ByBlockedSession": plain} {
		r := newRig(t, spec, false)
		r.exec(t, "CREATE TABLE _pair_new LIKE pair")
		const change, write, read = "ALTER TABLE %s COMMENT 'changed'", "DELETE FROM %s WHERE id = 99", "SELECT id FROM %s LIMIT 1"
		for _, c := range []struct {
			name    string
			action  fault.Action
			table   string
			blocked []string
			open    []string
		}{
			{"ReadAndStayOpen", fault.ReadAndStayOpen(fault.Original), "pair", []string{change}, []string{write, read}},
			{"LockForRead", fault.LockForRead(fault.Original), "pair", []string{change, write}, []string{read}},
			{"LockForWrite", fault.LockForWrite(fault.Original), "pair", []string{change, write, read}, nil},
			{"Shadow", fault.LockForWrite(fault.Shadow), "_pair_new", []string{write}, nil},
		} {
			t.Run("OK/"+name+"/"+c.name, func(t *testing.T) {
				r.do(t, c.action)
				for _, statement := range c.blocked {
					if !r.blocks(t, statement, c.table) {
						t.Errorf("%s was not blocked", statement)
					}
				}
				for _, statement := range c.open {
					if r.blocks(t, statement, c.table) {
						t.Errorf("%s was blocked", statement)
					}
				}
				r.do(t, fault.End(c.action.Name))
				for _, statement := range append(c.blocked, c.open...) {
					if r.blocks(t, statement, c.table) {
						t.Errorf("after the end: %s was blocked", statement)
					}
				}
			})
		}
		t.Run("ErrNoSuchTable/"+name, func(t *testing.T) {
			if err := r.try(fault.LockForWrite(fault.Old)); err == nil {
				t.Error("lock a table that is not there: got no error")
			}
		})
	}
}

func TestLockRows(t *testing.T) {
	r := newRig(t, plain, false)
	t.Run("OK", func(t *testing.T) {
		lock := fault.LockRows(fault.Original, "1", "3")
		r.do(t, lock)
		for key, want := range map[string]bool{"1": true, "2": false, "3": true} {
			if got := r.blocks(t, "DELETE FROM %s WHERE name = 'nobody' AND id = "+key, "pair"); got != want {
				t.Errorf("write to row %s is blocked: got %v, want %v", key, got, want)
			}
		}
		r.do(t, fault.End(lock.Name))
		if r.blocks(t, "DELETE FROM %s WHERE name = 'nobody' AND id = 1", "pair") {
			t.Error("after the end: row 1 is locked")
		}
	})
	t.Run("ErrNoSuchRow", func(t *testing.T) {
		if err := r.try(fault.LockRows(fault.Original, "77")); err == nil {
			t.Error("lock a row that is not there: got no error")
		}
		if r.blocks(t, "INSERT INTO %s (id, name, val) VALUES (78, 'free', 1)", "pair") {
			t.Error("what failed has left a lock")
		}
	})
	t.Run("OK/LockOutlivesNeitherServerNorFinish", func(t *testing.T) {
		r.do(t, fault.LockRows(fault.Original, "1"))
		if err := r.Cluster.Source().Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Finish(t.Context()); err != nil {
			t.Errorf("finish: %v", err)
		}
	})
}

// Old versions of rows are kept for as long as the snapshot is open.
func TestOldSnapshot(t *testing.T) {
	r := newRig(t, plain, false)
	change := func() { r.exec(t, "UPDATE pair SET val = val + 1 WHERE id = 1") }
	r.do(t, fault.OldSnapshot())
	for range 50 {
		change()
	}
	if got := r.kept(t); got < 50 {
		t.Errorf("transactions whose old rows are kept: got %d, want the 50 since the snapshot", got)
	}
	r.do(t, fault.End("hold an old snapshot"))
	// Purge runs after a commit.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for r.kept(t) >= 50 {
		if ctx.Err() != nil {
			t.Fatal("after the end: old rows are kept")
		}
		change()
	}
}

// kept returns the length of the list of transactions to purge.
func (r *rig) kept(t *testing.T) (n int) {
	t.Helper()
	err := r.Cluster.Source().DB.QueryRowContext(t.Context(),
		"SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// try carries out an action at once and returns its error.
func (r *rig) try(actions ...fault.Action) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return fault.Plan{fault.First(actions...)}.Arm(ctx, r.Site).Stop()
}

// last returns the last operation of the ledger.
func (r *rig) last() history.Op {
	ops := r.Recorder.Ops()
	return ops[len(ops)-1]
}

func (r *rig) has(t *testing.T, id string) (found bool) {
	t.Helper()
	if err := r.App.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM pair WHERE id = ?)", id).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// blocks reports whether a statement of the subject waits for a lock. It is
// given up then.
func (r *rig) blocks(t *testing.T, statement, table string) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn, err := r.subject.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
			t.Error(err)
		}
	}()
	var id uint64
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(statement, table))
		answer <- err
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-answer:
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			return false
		case <-tick.C:
		}
		waits, err := r.WaitsForRow(ctx, id)
		if err == nil && !waits {
			err = r.Cluster.Source().DB.QueryRowContext(ctx,
				"SELECT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND STATE = 'Waiting for table metadata lock')", id).Scan(&waits)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !waits {
			continue
		}
		if _, err := r.Cluster.Source().DB.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", id)); err != nil {
			t.Fatal(err)
		}
		var refused *mysql.MySQLError
		if err := <-answer; !errors.As(err, &refused) {
			t.Fatalf("%s: got %v, want an interruption", statement, err)
		}
		return true
	}
}
