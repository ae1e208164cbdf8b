package fault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

func sprint(v any) string { return fmt.Sprint(v) }

func TestDDL(t *testing.T) {
	r := newRig(t, plain, false)
	r.exec(t, "CREATE TABLE _pair_new LIKE pair")
	t.Run("OK/Alter", func(t *testing.T) {
		r.do(t, fault.Alter(fault.Original, "ADD COLUMN extra INT NULL"), fault.Alter(fault.Shadow, "ADD COLUMN other INT NULL"))
		r.exec(t, "UPDATE pair SET extra = 1 WHERE id = 1")
		r.exec(t, "INSERT INTO _pair_new (id, name, val, other) VALUES (1, 'n', 1, 1)")
	})
	t.Run("OK/Rename", func(t *testing.T) {
		r.do(t, fault.RenameAway(fault.Original, "elsewhere"))
		if _, err := r.subject.ExecContext(t.Context(), "DO (SELECT COUNT(*) FROM pair)"); err == nil {
			t.Error("the original is there")
		}
		r.exec(t, "DO (SELECT COUNT(*) FROM elsewhere)")
		r.do(t, fault.RenameBack("elsewhere", fault.Original))
		r.exec(t, "DO (SELECT COUNT(*) FROM pair)")
	})
	t.Run("ErrChangesNothing", func(t *testing.T) {
		if err := r.try(fault.Alter(fault.Original, "ENGINE = InnoDB")); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("ErrNoSuchTable", func(t *testing.T) {
		if err := r.try(fault.RenameAway(fault.Old, "elsewhere")); err == nil {
			t.Error("got no error")
		}
		r.Names = fault.Names{}
		if err := r.try(fault.Alter(fault.Shadow, "ADD COLUMN more INT NULL")); err == nil {
			t.Error("a shadow without a name: got no error")
		}
	})
}

func TestExec(t *testing.T) {
	r := newRig(t, plain, true)
	t.Run("OK", func(t *testing.T) {
		r.do(t, fault.Exec("SET GLOBAL max_connections = 77"), fault.Exec("ANALYZE TABLE pair"))
		var got int
		if err := r.App.QueryRowContext(t.Context(), "SELECT @@GLOBAL.max_connections").Scan(&got); err != nil || got != 77 {
			t.Errorf("max_connections: got %d, %v, want 77", got, err)
		}
	})
	t.Run("ErrRefused", func(t *testing.T) {
		if err := r.try(fault.Exec("SET GLOBAL no_such = 1")); err == nil {
			t.Error("got no error")
		}
	})
}

func TestWait(t *testing.T) {
	r := newRig(t, plain, false)
	r.exec(t, "CREATE TABLE _pair_new LIKE pair")
	// Each waits in vain before what happens, and not after it.
	lock := fault.LockForWrite(fault.Original)
	changed := workload.Update(r.Table, "1", history.Row{"name": history.Text("changed")})
	gone := workload.Delete(r.Table, "3")
	moved := workload.Move(r.Table, "2", "20")
	for _, c := range []struct {
		name   string
		wait   fault.Action
		happen func(t *testing.T)
	}{
		{"For", fault.WaitFor("SELECT name = 'there' FROM pair WHERE id = 1"), func(t *testing.T) {
			r.exec(t, "UPDATE pair SET name = 'there' WHERE id = 1")
		}},
		{"Applied", fault.WaitApplied(changed, gone, moved), func(t *testing.T) {
			r.exec(t, "INSERT INTO _pair_new VALUES (1, 'changed', 1), (20, 'two', 20)")
		}},
		{"Blocked", fault.WaitBlocked(step.CopyWrite), func(t *testing.T) {
			r.do(t, lock)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = r.subject.ExecContext(ctx, "/* osc:copy-write */ INSERT INTO _pair_new SELECT * FROM pair WHERE FALSE") // it is cut off
			}()
			t.Cleanup(func() { cancel(); <-done })
		}},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := c.wait.Do(ctx, r.Site); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("before: got %v, want a wait in vain", err)
			}
			c.happen(t)
			r.do(t, c.wait)
		})
	}
	t.Run("ErrCannotTell", func(t *testing.T) {
		if err := r.try(fault.WaitApplied(workload.Add(r.Table, "1", "val", 1))); err == nil {
			t.Error("got no error")
		}
	})
}

// second is a subject that has one session and ends when told.
type second struct {
	rig  *rig
	done chan struct{}
	got  syscall.Signal
	stop func()
}

func (s *second) Done() <-chan struct{} { return s.done }

func (s *second) Signal(sig syscall.Signal) error {
	select {
	case <-s.done:
		return os.ErrProcessDone
	default:
	}
	s.got = sig
	s.stop()
	return nil
}

func TestSecondRun(t *testing.T) {
	r := newRig(t, plain, false)
	var started *second
	r.StartSecond = func(context.Context) (fault.Subject, error) {
		db := r.open(t, r.Proxy.Addr(), topology.Migrator())
		conn, err := db.Conn(t.Context())
		if err != nil {
			return nil, err
		}
		started = &second{rig: r, done: make(chan struct{})}
		started.stop = func() { closing(t, conn.Close); close(started.done) }
		return started, nil
	}
	const name = "a second run of the subject"
	t.Run("OK/EndsByItself", func(t *testing.T) {
		r.do(t, fault.SecondRun())
		started.stop()
		r.do(t, fault.End(name))
		if started.got != 0 {
			t.Errorf("signal: got %v, want none", started.got)
		}
	})
	t.Run("OK/IsKilledInTheEnd", func(t *testing.T) {
		r.do(t, fault.SecondRun())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := r.Finish(ctx); err != nil {
			t.Error(err)
		}
		if started.got != syscall.SIGKILL {
			t.Errorf("signal: got %v, want SIGKILL", started.got)
		}
	})
	t.Run("ErrNotPossible", func(t *testing.T) {
		r.StartSecond = nil
		if err := r.try(fault.SecondRun()); err == nil {
			t.Error("got no error")
		}
	})
}

// A reply is really lost, and the ledger forgives nothing but that.
func TestUnknownOutcome(t *testing.T) {
	r := newRig(t, semiSync, false)
	row := func(id, name string) history.Row {
		return history.Row{"id": history.Text(id), "name": history.Text(name), "val": history.Text("1")}
	}
	initial, err := observe.All(t.Context(), r.App, observe.TableRef{Schema: r.Schema, Name: r.Table.Name}, 10)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(t *testing.T, spoil func(map[history.Key]history.Row)) check.Result {
		t.Helper()
		record := &history.Record{
			Table: history.Table{Schema: r.Schema, Name: r.Table.Name, Key: r.Table.Key, Initial: initial},
			Ops:   r.Recorder.Ops(),
		}
		record.Observed.Final, err = observe.Rows(t.Context(), r.App, observe.TableRef{Schema: r.Schema, Name: r.Table.Name}, observe.TouchedKeys(record.Ops))
		if err != nil {
			t.Fatal(err)
		}
		spoil(record.Observed.Final)
		return check.AcknowledgedWrites(record)
	}
	asIs := func(map[history.Key]history.Row) {}
	gone := func(final map[history.Key]history.Row) { delete(final, "50") }
	expect := func(t *testing.T, what string, got check.Result, want check.Verdict) {
		t.Helper()
		if got.Verdict != want {
			t.Errorf("%s: got %s %+v %q, want %s", what, got.Verdict, got.Anomalies, got.Unknown, want)
		}
	}

	r.do(t, fault.StopIO(), fault.WriteAndLoseReply(workload.Insert(r.Table, row("50", "lost"))))
	if op := r.last(); op.Outcome != history.Unknown || op.Return == 0 {
		t.Fatalf("operation: got %+v, want it unknown", op)
	}
	r.do(t, fault.Read("50"))
	expect(t, "before the ACK, not there", judge(t, asIs), check.Valid)
	r.do(t, fault.StartIO(), fault.WaitFor("SELECT COUNT(*) FROM pair WHERE id = 50"))
	expect(t, "after the ACK, there", judge(t, asIs), check.Valid)
	expect(t, "as if it had never come", judge(t, gone), check.Valid)
	expect(t, "with another value", judge(t, func(final map[history.Key]history.Row) { final["50"] = row("50", "other") }), check.Invalid)

	// A retry, and a read, decide it.
	if err := r.try(fault.Write(workload.Insert(r.Table, row("50", "retry")))); err == nil {
		t.Error("retry: got no error, want a duplicate")
	}
	expect(t, "after a retry, there", judge(t, asIs), check.Valid)
	expect(t, "after a retry, lost", judge(t, gone), check.Invalid)
	r.do(t, fault.Read("50"))
	expect(t, "after a read, there", judge(t, asIs), check.Valid)

	// Without a wait for an ACK no reply can be lost.
	if err := r.try(fault.WriteAndLoseReply(workload.Delete(r.Table, "1"))); err == nil {
		t.Error("a write that is answered at once: got no error")
	}
}
