package fault_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Somebody else writes too, and the subject applies that first: a fault that
// waits for its own write is not taken in.
func TestApplied(t *testing.T) {
	changed := func(to string) workload.Write {
		return workload.Update(fixtures.Pair(), "2", history.Row{"name": history.Text(to)})
	}
	for _, c := range []struct {
		name    string
		act     func(workload.Write) []fault.Action
		early   string // what the subject sends before it knows of the write
		late    string // and what it sends then
		refused bool   // the server refuses both
	}{
		{"WriteAndApply", func(w workload.Write) []fault.Action { return []fault.Action{fault.WriteAndApply(w)} },
			"/* osc:apply */ DO 1", "/* osc:apply */ DO 2", false},
		{"WaitApplyOrBlocked", func(w workload.Write) []fault.Action {
			return []fault.Action{fault.Write(w), fault.WaitApplyOrBlocked(w)}
		}, "/* osc:apply */ DO 1", "/* osc:apply */ DO 2", false},
		{"WaitApplyRefused", func(w workload.Write) []fault.Action {
			return []fault.Action{fault.Write(w), fault.WaitApplyRefused(w)}
		}, "/* osc:apply */ SELECT * FROM absent", "/* osc:apply */ SELECT * FROM absent", true},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			r := newRig(t, plain, false)
			stream := r.stream(t, "", r.logEnd(t))
			r.do(t, fault.WriteAndHold(workload.Update(r.Table, "3", history.Row{"val": history.Text("1")})).As("lag"))
			done := make(chan error, 1)
			go func() { done <- fault.Plan{fault.First(c.act(changed(c.name))...)}.Arm(t.Context(), r.Site).Stop() }()
			r.eventually(t, "the write is there", func() bool {
				name := ""
				err := r.App.QueryRowContext(t.Context(), "SELECT name FROM pair WHERE id = 2").Scan(&name)
				return err == nil && name == c.name
			})
			send := func(statement string) {
				if _, err := r.subject.ExecContext(t.Context(), statement); (err != nil) != c.refused {
					t.Errorf("%s: %v", statement, err)
				}
			}
			send(c.early)
			select {
			case err := <-done:
				t.Errorf("it came back (%v) before the write was delivered", err)
			default:
			}
			r.do(t, fault.End("lag"))
			reaches(t, stream, r.logEnd(t))
			send(c.late)
			if err := <-done; err != nil {
				t.Error(err)
			}
			if got := r.marks(history.MarkUnapplied); got != 0 {
				t.Errorf("marks of a change that was not applied: got %d, want 0", got)
			}
		})
	}
}

func TestWriteAndHold(t *testing.T) {
	r := newRig(t, plain, false)
	from := r.logEnd(t)
	stream := r.stream(t, "", from)
	r.writes(t, 1)
	border := r.logEnd(t)
	reaches(t, stream, border)
	r.do(t, fault.WriteAndHold(workload.Delete(r.Table, "3")).As("lag"))
	r.writes(t, 1)
	end := r.logEnd(t)
	again := r.stream(t, "7b2e9c1a-0000-4000-8000-000000000077", border) // it doesn't get round the hold
	for _, s := range []*wire.Replica{stream, again} {
		if got := s.At(); got.AtLeast(end) {
			t.Errorf("the stream is at %v although it is held", got)
		}
	}
	r.do(t, fault.End("lag"))
	reaches(t, stream, end)
	reaches(t, again, end)
}
