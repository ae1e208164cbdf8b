package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// Rows that somebody keeps locked wait by themselves: all others are applied
// meanwhile, and at the end these are too, whatever became of them.
func TestLockedRowsHoldUpNoOthers(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema, rows, locked = topology.Database, 20_000, 5_000
	for _, end := range []string{"XA COMMIT 'x'", "XA ROLLBACK 'x'"} {
		t.Run(end, func(t *testing.T) {
			fill(t, server, rows)
			flag := t.TempDir() + "/postpone"
			osc := begin(t, server, "--postpone-cut-over-flag-file="+flag)
			osc.until(t, "postponed")
			const plainly = "SET SESSION transaction_isolation = 'READ-COMMITTED'" // locks no more rows than it changes
			sessions(t, t.Context(), server.DB, []string{
				plainly, "XA START 'x'", fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id MOD %d = 0", rows/locked), "INSERT INTO t VALUES (-1, 1)", "DELETE FROM t WHERE id = 4",
				"XA END 'x'", "XA PREPARE 'x'", "|",
			})
			began := time.Now()
			sessions(t, t.Context(), server.DB, []string{
				plainly, fmt.Sprintf("UPDATE t SET v = v + 10 WHERE id MOD %d <> 0", rows/locked), "DELETE FROM t WHERE id = 5", "INSERT INTO t VALUES (-2, 2)",
			})
			osc.until(t, fmt.Sprintf("changes:   %d applied, %d wait", rows-locked+1, locked+1))
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("the rows that nobody has locked took %v", took)
			}
			wait(t, "osc to say that rows are locked", func() bool {
				return strings.Contains(osc.stderr.String(), fmt.Sprintf("rows=%d", locked+1))
			})
			execute(t, server.DB, end)
			if outcome, text := osc.ctl(t, "cut-over"); outcome != engine.Completed {
				t.Fatalf("cut-over: %s", text)
			}
			osc.ends(t, engine.Completed)
			sameAsAlter(t, server.DB, "MODIFY v BIGINT")
		})
	}
}

// A row that is locked nearly always, by one after the other, does not keep
// the migration from its end.
func TestHotRow(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	fill(t, server, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				// It holds the lock for some milliseconds, and another one waits.
				_, _ = server.DB.ExecContext(ctx, "UPDATE "+schema+".t SET v = v + 1 WHERE id = 7 AND SLEEP(0.005) = 0")
			}
		})
	}
	got, log := osc(t, server, "MODIFY v BIGINT")
	cancel()
	writers.Wait()
	if got != engine.Completed {
		t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
	}
}

// One table has one migration at a time; one that has lost its claim ends.
func TestClaim(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	fill(t, server, 10)
	got, log := through(t, server, nil, wire.Rule{Step: step.CopyWrite, Occurrence: 1}, func(ctx context.Context) {
		outcome, log := osc(t, server, "MODIFY v BIGINT")
		if outcome != engine.Refused || !strings.Contains(log, "another migration of it is running") {
			t.Errorf("second migration: got exit status %d, want %d and why\n%s", outcome, engine.Refused, log)
		}
		if left := count(t, server, "_t_osc"); left == 0 {
			t.Error("the second migration has cleared away what the first one uses")
		}
		var holder sql.NullInt64
		if err := server.DB.QueryRowContext(ctx, "SELECT IS_USED_LOCK('osc-migration:"+schema+".t')").Scan(&holder); err != nil || !holder.Valid {
			t.Fatalf("holder of the claim: %v, %v", holder, err)
		}
		// Another migration waits for its turn, and gets it.
		other, err := server.DB.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		taken := make(chan error, 1)
		go func() {
			_, err := other.ExecContext(ctx, "DO GET_LOCK('osc-migration:"+schema+".t', 60)")
			taken <- err
		}()
		wait(t, "the other migration to wait", func() (waits bool) {
			err := server.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE = 'User lock')").Scan(&waits)
			return err == nil && waits
		})
		execute(t, server.DB, fmt.Sprintf("KILL %d", holder.Int64))
		if err := <-taken; err != nil {
			t.Fatal(err)
		}
	})
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; got != engine.Aborted || !strings.Contains(last, "held by another session") || !strings.Contains(last, "clean up") {
		t.Errorf("got exit status %d and %q, want %d, and that the claim is lost and with it the right to clean up", got, last, engine.Aborted)
	}
	if left := count(t, server, "_t_osc"); left == 0 {
		t.Error("it has cleared away what may be the other migration's")
	}
	if left := count(t, server, "_t_old"); left != 0 {
		t.Error("it has swapped the tables")
	}
}

// A claim that is lost with its session and that nobody else has taken is
// taken again.
func TestClaimAgain(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	fill(t, server, 10)
	const lock = "IS_USED_LOCK('osc-migration:" + topology.Database + ".t')"
	got, log := through(t, server, nil, wire.Rule{Step: step.CopyWrite, Occurrence: 1}, func(ctx context.Context) {
		var holder int64
		if err := server.DB.QueryRowContext(ctx, "SELECT "+lock).Scan(&holder); err != nil {
			t.Fatal(err)
		}
		execute(t, server.DB, fmt.Sprintf("KILL %d", holder))
		// The watch looks every few seconds.
		wait(t, "osc to take its claim again", func() (taken bool) {
			err := server.DB.QueryRowContext(ctx, "SELECT IFNULL("+lock+" <> ?, FALSE)", holder).Scan(&taken)
			return err == nil && taken
		})
	})
	if got != engine.Completed {
		t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
	}
	sameAsAlter(t, server.DB, "MODIFY v BIGINT")
	if left := count(t, server, "_t_new", "_t_osc"); left != 0 {
		t.Errorf("left behind: %d rows", left)
	}
}

// What the server can do at once, it does, if asked.
func TestInstant(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	columns := func(t *testing.T) (n int) {
		err := server.DB.QueryRow("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 't'", schema).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Run("OK/done", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--alter=ADD COLUMN w INT NOT NULL DEFAULT 3", "--attempt-instant-ddl")
		r.ends(t, engine.Completed)
		if got, want := r.stdout.String(), "by ALGORITHM=INSTANT, no row was copied"; !strings.Contains(got, want) {
			t.Errorf("summary: got %q, want it to say %q", got, want)
		}
		if got, left := columns(t), count(t, server, "_t_old", "_t_new", "_t_osc"); got != 3 || left != 0 {
			t.Errorf("got %d columns and %d rows left behind, want 3 and 0", got, left)
		}
	})
	t.Run("OK/not possible", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--alter=MODIFY v BIGINT, ALGORITHM=INPLACE", "--attempt-instant-ddl")
		r.ends(t, engine.Completed)
		if log := r.stderr.String(); !strings.Contains(log, "ALGORITHM=INSTANT is not possible") {
			t.Errorf("log does not say so:\n%s", log)
		}
		sameAsAlter(t, server.DB, "MODIFY v BIGINT")
	})
	t.Run("OK/the table is busy", func(t *testing.T) {
		fill(t, server, 10)
		tx, err := server.DB.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
		if _, err := tx.Exec("SELECT * FROM " + schema + ".t LIMIT 1"); err != nil {
			t.Fatal(err)
		}
		r := begin(t, server, "--alter=ADD COLUMN w INT", "--attempt-instant-ddl", "--cut-over-lock-timeout-seconds=1")
		wait(t, "osc to give up on INSTANT", func() bool { return strings.Contains(r.stderr.String(), "ALGORITHM=INSTANT is not possible") })
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		r.ends(t, engine.Completed)
		sameAsAlter(t, server.DB, "ADD COLUMN w INT")
	})
	t.Run("OK/the answer is lost", func(t *testing.T) {
		fill(t, server, 10)
		cut := func(action wire.Action, want engine.Outcome, wide int) {
			proxy, err := wire.Listen(t.Context(), wire.Config{Upstream: server.Addr, Phrasebook: wire.CommentPhrasebook("osc")})
			if err != nil {
				t.Fatal(err)
			}
			defer proxy.Close()
			proxy.Gate(wire.Rule{Step: "instant", Occurrence: 1, Action: action})
			r := begin(t, &topology.Server{Addr: proxy.Addr()}, "--alter=ADD COLUMN w INT", "--attempt-instant-ddl")
			r.ends(t, want)
			if got := columns(t); got != wide {
				t.Errorf("columns: got %d, want %d", got, wide)
			}
		}
		cut(wire.CutBefore, engine.Aborted, 2)
		cut(wire.CutAfter, engine.Completed, 3)
	})
}
