package fault_test

import (
	"testing"

	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/workload"
)

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
