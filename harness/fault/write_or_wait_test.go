package fault_test

import (
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestWriteOrWait(t *testing.T) {
	r := newRig(t, plain, false)
	write := func(name string) fault.Action {
		return fault.WriteOrWait(workload.Update(r.Table, "1", history.Row{"name": history.Text(name)}))
	}

	t.Run("OK/Free", func(t *testing.T) {
		r.do(t, write("free"))
		if op := r.last(); op.Outcome != history.OK || op.Return == 0 {
			t.Errorf("operation: got %+v, want it acknowledged", op)
		}
	})
	t.Run("OK/Locked", func(t *testing.T) {
		r.do(t, fault.LockForWrite(fault.Original).As("lock"), write("waits"))
		if op := r.last(); op.Return != 0 {
			t.Errorf("operation under the lock: got %+v, want one without an end", op)
		}
		r.do(t, fault.End("lock"))
		if err := r.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if op := r.last(); op.Outcome != history.OK || op.Return == 0 {
			t.Errorf("operation after the lock: got %+v, want it acknowledged", op)
		}
	})
}

func TestSent(t *testing.T) {
	r := newRig(t, plain, false)
	r.exec(t, "/* osc:lock */ DO 1")
	r.do(t, fault.Kill(fault.Sent(step.Lock)))
	if err := r.try(fault.Kill(fault.Sent(step.Rename))); err == nil {
		t.Error("kill the session of a step that was not sent: got no error")
	}
}

func TestPlanOfLaterRun(t *testing.T) {
	r := newRig(t, plain, false)
	plan := fault.Plan{fault.Before(step.Lock, fault.Signal("there"))}.In("run 2")
	if got, want := plan.Names()[0], "run 2, before lock: there"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	armed := plan.Arm(t.Context(), r.Site)
	r.exec(t, "/* osc:lock */ DO 1")
	if err := armed.Stop(); err != nil {
		t.Error(err)
	}
	if got := r.marks(history.MarkFaultFired); got != 1 {
		t.Errorf("marks of fired faults: got %d, want 1", got)
	}
}
