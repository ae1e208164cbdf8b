package fault_test

import (
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

func TestWriteAndPass(t *testing.T) {
	r := newRig(t, plain, false)
	stream := r.stream(t, "", r.logEnd(t))
	marker := workload.Update(r.Table, "1", history.Row{"name": history.Text("marker")})
	write := workload.Delete(r.Table, "3")
	// The marker's event waits, so that its being applied can't be overlooked.
	gate := r.Proxy.EventGate(wire.EventRule{Name: "marker", Occurrence: 2, Action: wire.Hold, Match: func(e wire.Event) bool {
		return e.Kind == wire.EventRows && e.Table == "pair"
	}})
	done := make(chan error, 1)
	go func() {
		done <- (fault.Plan{fault.First(fault.WriteAndPass(marker, write))}).Arm(t.Context(), r.Site).Stop()
	}()
	r.await(t, history.MarkHeld, "marker")
	r.exec(t, "/* osc:apply */ DO 1") // about what came before
	select {
	case err := <-done:
		t.Errorf("it came back (%v) before the marker was delivered", err)
	default:
	}
	gate.Remove()
	reaches(t, stream, r.logEnd(t))
	r.exec(t, "/* osc:apply */ DO 2")
	if err := <-done; err != nil {
		t.Error(err)
	}
	var rows int
	if err := r.App.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pair WHERE id = 3 OR name = 'marker'").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("rows: got %d, %v, want the marker alone", rows, err)
	}
}
