package fault_test

import (
	"context"
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// plain is one server.
var plain = topology.Spec{GTID: true}

func TestPlan(t *testing.T) {
	r := newRig(t, plain, false)
	write := fault.Write(workload.Update(r.Table, "1", history.Row{"name": history.Text("changed")}))
	name := func() (name string) {
		if err := r.App.QueryRowContext(t.Context(), "SELECT name FROM pair WHERE id = 1").Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}

	t.Run("OK/FirstHasHappenedWhenArmed", func(t *testing.T) {
		armed := fault.Plan{fault.First(write)}.Arm(t.Context(), r.Site)
		if got := name(); got != "changed" {
			t.Errorf("name: got %q, want changed", got)
		}
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("OK/NthStatementIsHeld", func(t *testing.T) {
		back := fault.Write(workload.Update(r.Table, "1", history.Row{"name": history.Text("back")}))
		armed := fault.Plan{fault.BeforeNth(2, step.CopyWrite, back)}.Arm(t.Context(), r.Site)
		r.exec(t, "/* osc:copy-write */ DO 1")
		if got := name(); got != "changed" {
			t.Errorf("after the first statement: got %q, want changed", got)
		}
		r.exec(t, "/* osc:copy-write */ DO 1")
		if got := name(); got != "back" {
			t.Errorf("after the second statement: got %q, want back", got)
		}
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
	})

	t.Run("ErrMomentNeverCame", func(t *testing.T) {
		before := r.marks(history.MarkFaultFired)
		armed := fault.Plan{fault.Before(step.Rename, write)}.Arm(t.Context(), r.Site)
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
		if got := r.marks(history.MarkFaultFired); got != before {
			t.Errorf("marks of fired faults: got %d, want %d", got, before)
		}
	})

	t.Run("ErrNothingToEnd", func(t *testing.T) {
		if err := (fault.Plan{fault.First(fault.End("never begun"))}).Arm(context.Background(), r.Site).Stop(); err == nil {
			t.Error("ending what never began: got no error")
		}
	})
}
