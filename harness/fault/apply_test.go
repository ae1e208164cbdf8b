package fault_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestPlanSteps(t *testing.T) {
	none := workload.Write{}
	plan := fault.Plan{
		fault.First(fault.StopIO()),
		fault.Before(step.CopyWrite, fault.WriteAndApply(none)),
		fault.AfterNth(2, step.CopyWrite),
		fault.OnceReadOrWaiting(step.RangeRead, step.Sentinel).Then(fault.StartIO()),
	}
	want := []step.Step{step.CopyWrite, step.Apply, step.RangeRead}
	if diff := cmp.Diff(want, plan.Steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

func TestWriteAndApply(t *testing.T) {
	r := newRig(t, plain, false)
	change := fault.WriteAndApply(workload.Update(r.Table, "1", history.Row{"name": history.Text("changed")}))

	t.Run("OK/Applied", func(t *testing.T) {
		done := make(chan error, 1)
		go func() {
			done <- (fault.Plan{fault.First(change)}).Arm(t.Context(), r.Site).Stop()
		}()
		for ended := false; !ended; {
			r.exec(t, "/* osc:apply */ DO 1")
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
				ended = true
			default:
			}
		}
		if got := r.marks(history.MarkUnapplied); got != 0 {
			t.Errorf("marks of a change that was not applied: got %d, want 0", got)
		}
	})

	// A subject that does one thing at a time is let go, and the record says
	// that it did not apply the change.
	t.Run("OK/Unapplied", func(t *testing.T) {
		fired := r.marks(history.MarkFaultFired)
		r.do(t, change)
		if got := r.marks(history.MarkUnapplied); got != 1 {
			t.Errorf("marks of a change that was not applied: got %d, want 1", got)
		}
		if got := r.marks(history.MarkFaultFired); got != fired+1 {
			t.Errorf("marks of fired faults: got %d, want %d", got, fired+1)
		}
	})
}

// A subject that waits for the table's metadata lock, as one does that makes
// triggers while a transaction is open, is seen to wait.
func TestOnceWaitingForMetadataLock(t *testing.T) {
	r := newRig(t, plain, true)
	tx, err := r.App.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "UPDATE pair SET val = 0 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	commit := fault.Action{Name: "commit", Do: func(ctx context.Context, s *fault.Site) error { return tx.Commit() }}
	armed := fault.Plan{fault.OnceReadOrWaiting(step.RangeRead, step.Attach).Then(commit)}.Arm(t.Context(), r.Site)
	r.exec(t, "/* osc:attach */ ALTER TABLE pair COMMENT 'waits'") // until the commit
	if err := armed.Stop(); err != nil {
		t.Error(err)
	}
	if got := r.marks(history.MarkFaultFired); got != 1 {
		t.Errorf("marks of fired faults: got %d, want 1", got)
	}
}
