package fault_test

import (
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/workload"
)

func TestOpenTransaction(t *testing.T) {
	r := newRig(t, plain, false)
	row := func(id string) history.Row {
		return history.Row{"id": history.Text(id), "name": history.Text("n"), "val": history.Text("1")}
	}
	for _, c := range []struct {
		name, id string
		end      fault.Action
		want     history.Outcome
	}{
		{"Commit", "10", fault.Commit("open"), history.OK},
		{"Rollback", "11", fault.Rollback("open"), history.Failed},
		{"End", "12", fault.End("open"), history.Failed},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			r.do(t, fault.OpenTransaction("open", workload.Insert(r.Table, row(c.id)), workload.Add(r.Table, "1", "val", 1)))
			if r.has(t, c.id) {
				t.Error("a reader sees the open transaction")
			}
			if op := r.last(); op.Return != 0 {
				t.Errorf("operation: got %+v, want one without an end", op)
			}
			r.do(t, c.end)
			if op := r.last(); op.Outcome != c.want || op.Return == 0 {
				t.Errorf("operation: got %+v, want it %s", op, c.want)
			}
			if got, want := r.has(t, c.id), c.want == history.OK; got != want {
				t.Errorf("row %s is there: got %v, want %v", c.id, got, want)
			}
		})
	}
	t.Run("OK/SessionIsLost", func(t *testing.T) {
		r.do(t, fault.OpenTransaction("open", workload.Insert(r.Table, row("13"))))
		r.Links.App.Reset()
		if err := r.try(fault.Commit("open")); err == nil {
			t.Error("commit over a lost connection: got no error")
		}
		if op := r.last(); op.Outcome == history.OK {
			t.Errorf("operation: got %+v, want it not acknowledged", op)
		}
		r.do(t, fault.OpenTransaction("open", workload.Insert(r.Table, row("14"))))
		r.Links.App.Reset()
		r.do(t, fault.Rollback("open"))
		if op := r.last(); op.Outcome != history.Failed || r.has(t, "14") {
			t.Errorf("operation: got %+v, want it failed", op)
		}
	})
	t.Run("ErrEndsNothing", func(t *testing.T) {
		if err := r.try(fault.Commit("nothing")); err == nil {
			t.Error("commit what is not open: got no error")
		}
		r.do(t, fault.OldSnapshot())
		if err := r.try(fault.Commit("hold an old snapshot")); err == nil {
			t.Error("commit what is no transaction: got no error")
		}
	})
}

func TestXA(t *testing.T) {
	r := newRig(t, plain, true)
	update := func(name string) workload.Write {
		return workload.Update(r.Table, "2", history.Row{"name": history.Text(name)})
	}
	name := func(t *testing.T) (name string) {
		t.Helper()
		if err := r.App.QueryRowContext(t.Context(), "SELECT name FROM pair WHERE id = 2").Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	restart := func(t *testing.T) {
		t.Helper()
		if err := r.Cluster.Source().Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		restart bool
		decide  fault.Action
		want    history.Outcome
	}{
		{"Commit", false, fault.XACommit("x"), history.OK},
		{"Rollback", false, fault.XARollback("x"), history.Failed},
		{"CommitAfterRestart", true, fault.XACommit("x"), history.OK},
		{"RollbackAfterRestart", true, fault.XARollback("x"), history.Failed},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			before := name(t)
			r.do(t, fault.XAPrepare("x", update(c.name)))
			if c.restart {
				restart(t)
			}
			if got := name(t); got != before {
				t.Errorf("prepared: a reader sees %q, want %q", got, before)
			}
			if got := r.prepared(t); got != 1 {
				t.Errorf("prepared transactions: got %d, want 1", got)
			}
			r.do(t, c.decide)
			want := before
			if c.want == history.OK {
				want = c.name
			}
			if got := name(t); got != want {
				t.Errorf("decided: a reader sees %q, want %q", got, want)
			}
			if got := r.prepared(t); got != 0 {
				t.Errorf("prepared transactions: got %d, want 0", got)
			}
			if op := r.last(); op.Outcome != c.want || op.Return == 0 {
				t.Errorf("operation: got %+v, want it %s", op, c.want)
			}
		})
	}
	t.Run("OK/FinishLeavesNone", func(t *testing.T) {
		r.do(t, fault.XAPrepare("forgotten", update("forgotten")))
		if err := r.Finish(t.Context()); err != nil {
			t.Error(err)
		}
		if got := r.prepared(t); got != 0 {
			t.Errorf("prepared transactions: got %d, want 0", got)
		}
		if op := r.last(); op.Outcome != history.Failed || op.Return == 0 {
			t.Errorf("operation: got %+v, want it failed", op)
		}
	})
	t.Run("ErrWriteIsRefused", func(t *testing.T) {
		twice := workload.Insert(r.Table, history.Row{"id": history.Text("1"), "name": history.Text("n"), "val": history.Text("1")})
		if err := r.try(fault.XAPrepare("refused", twice)); err == nil {
			t.Error("prepare a duplicate: got no error")
		}
		if op := r.last(); op.Outcome != history.Failed || op.Code != 1062 {
			t.Errorf("operation: got %+v, want it failed as a duplicate", op)
		}
		if err := r.try(fault.XACommit("refused")); err == nil {
			t.Error("commit what was never prepared: got no error")
		}
	})
}

func (r *rig) prepared(t *testing.T) (n int) {
	t.Helper()
	rows, err := r.Cluster.Source().DB.QueryContext(t.Context(), "XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { closing(t, rows.Close) }()
	for rows.Next() {
		n++
	}
	return n
}
