package fault_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

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
