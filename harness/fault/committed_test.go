package fault_test

import (
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// A tool that writes a chunk in a transaction of several statements is done
// with it at its COMMIT. Before that its locks would keep the write away.
func TestAfterCommit(t *testing.T) {
	r := newRig(t, plain, false)
	conn := r.conn(t)
	write := workload.Update(r.Table, "1", history.Row{"name": history.Text("written")})
	stop := r.arm(t, fault.Plan{fault.After(step.CopyWrite, fault.Write(write))})
	for _, statement := range []string{
		"START TRANSACTION",
		"/* osc:copy-write */ UPDATE pair SET val = 100 WHERE id = 1",
		"COMMIT",
	} {
		if r.marks(history.MarkHeld) != 0 {
			t.Errorf("something was held before %s", statement)
		}
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	stop()
	var name string
	var val int
	if err := r.App.QueryRowContext(t.Context(), "SELECT name, val FROM pair WHERE id = 1").Scan(&name, &val); err != nil {
		t.Fatal(err)
	}
	if name != "written" || val != 100 {
		t.Errorf("row 1: got %q and %d, want what both wrote", name, val)
	}
	if got := r.marks(history.MarkHeld); got != 1 {
		t.Errorf("holds: got %d, want the one of COMMIT", got)
	}
}
