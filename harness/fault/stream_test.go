package fault_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// logEnd is the end of the source's binlog.
func (r *rig) logEnd(t *testing.T) wire.LogSpot {
	t.Helper()
	p, err := r.Cluster.Source().BinlogEnd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return wire.LogSpot{File: p.File, Pos: p.Pos}
}

// stream opens the subject's binlog stream at a place.
func (r *rig) stream(t *testing.T, uuid string, from wire.LogSpot) *wire.Replica {
	t.Helper()
	s, err := wire.JoinReplica(t.Context(), wire.ReplicaConfig{
		Addr: r.Proxy.Addr(), User: topology.Replicator().User, Password: topology.Replicator().Password,
		ServerID: 77, UUID: uuid, From: from,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, s.Close) })
	return s
}

// reaches waits until a stream has come to a place.
func reaches(t *testing.T, s *wire.Replica, to wire.LogSpot) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Await(ctx, to); err != nil {
		t.Fatal(err)
	}
}

// ends waits until a stream has ended, and returns why.
func ends(t *testing.T, s *wire.Replica) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := s.Await(ctx, wire.LogSpot{File: "zzzzzz.999999"})
	if ctx.Err() != nil {
		t.Fatal("the stream goes on")
	}
	return err
}

// writes commits one transaction of the application with so many updates.
func (r *rig) writes(t *testing.T, n int) {
	t.Helper()
	tx, err := r.App.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := tx.ExecContext(t.Context(), "UPDATE pair SET val = val + 1 WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestStream(t *testing.T) {
	r := newRig(t, plain, false)

	// holds arms a fault that does something while the stream is held at an
	// event, makes the event come, and sees the stream stand before it.
	holds := func(t *testing.T, e fault.Event, name string, cause func()) {
		t.Helper()
		from := r.logEnd(t)
		stream := r.stream(t, "", from)
		stop := r.arm(t, fault.Plan{fault.AtEvent(e, fault.Signal("begin"), fault.Until("go"))})
		defer stop()
		cause()
		end := r.logEnd(t)
		held := r.await(t, history.MarkHeld, name)
		if got := stream.At(); got.AtLeast(end) {
			t.Errorf("the stream is at %v although it is held before %v", got, end)
		}
		if held.Data["file"] == "" {
			t.Errorf("mark of the hold: %+v tells no place", held)
		}
		r.do(t, fault.Signal("go"))
		reaches(t, stream, end)
	}
	t.Run("OK/HeldInsideATransaction", func(t *testing.T) {
		holds(t, fault.RowEvent(2), "at row event 2 of a transaction", func() { r.writes(t, 1); r.writes(t, 3) })
	})
	t.Run("OK/CutTwiceInsideATransaction", func(t *testing.T) {
		from := r.logEnd(t)
		plan := fault.Plan{fault.CutStream(fault.RowEvent(2)), fault.CutStream(fault.RowEvent(2).Nth(2))}
		stop := r.arm(t, plan)
		defer stop()
		first := r.stream(t, "", from)
		r.writes(t, 3)
		end := r.logEnd(t)
		second := from
		for i := range 2 {
			if err := ends(t, first); err == nil {
				t.Errorf("stream %d: got no error", i+1)
			}
			if got := first.At(); got == from || got.AtLeast(end) {
				t.Errorf("stream %d was cut at %v, want it between %v and %v", i+1, got, from, end)
			}
			first = r.stream(t, "", second)
		}
		reaches(t, first, end)
		for _, name := range plan.Names() {
			r.await(t, history.MarkFaultFired, name)
			r.await(t, history.MarkFaultEnded, name)
		}
	})
	t.Run("OK/HeldBetweenTransactions", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.AtEvent(fault.NextTransaction().Nth(2), fault.Until("next"))})
		defer stop()
		stream := r.stream(t, "", r.logEnd(t))
		r.writes(t, 1)
		border := r.logEnd(t)
		r.writes(t, 1)
		end := r.logEnd(t)
		r.await(t, history.MarkHeld, "at the start of a transaction #2")
		reaches(t, stream, border)
		if got := stream.At(); got != border {
			t.Errorf("the stream is held at %v, want the border %v", got, border)
		}
		r.do(t, fault.Signal("next"))
		reaches(t, stream, end)
	})
	t.Run("OK/HeldAtTheEndOfATransaction", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.AtEvent(fault.TransactionEnd(), fault.Until("commit"))})
		defer stop()
		from := r.logEnd(t)
		stream := r.stream(t, "", from)
		r.writes(t, 1)
		end := r.logEnd(t)
		r.await(t, history.MarkHeld, "at the end of a transaction")
		reaches(t, stream, wire.LogSpot{File: from.File, Pos: from.Pos + 1})
		if got := stream.At(); got.AtLeast(end) {
			t.Errorf("the stream is held at %v, want it between %v and %v", got, from, end)
		}
		r.do(t, fault.Signal("commit"))
		reaches(t, stream, end)
	})
	t.Run("OK/HeldAtRotation", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.AtEvent(fault.Rotation(), fault.Until("rotate"))})
		defer stop()
		stream := r.stream(t, "", r.logEnd(t))
		file := stream.At().File
		if _, err := r.Cluster.Source().DB.ExecContext(t.Context(), "FLUSH BINARY LOGS"); err != nil {
			t.Fatal(err)
		}
		r.writes(t, 1)
		end := r.logEnd(t)
		r.await(t, history.MarkHeld, "at rotation")
		if got := stream.At(); got.File != file || end.File == file {
			t.Errorf("the stream is held at %v, want it in %s, before %s", got, file, end.File)
		}
		r.do(t, fault.Signal("rotate"))
		reaches(t, stream, end)
	})
	t.Run("OK/Delay", func(t *testing.T) {
		const by = 150 * time.Millisecond
		stop := r.arm(t, fault.Plan{fault.DelayStream(fault.RowEvent(1), by)})
		defer stop()
		stream := r.stream(t, "", r.logEnd(t))
		began := time.Now()
		r.writes(t, 1)
		reaches(t, stream, r.logEnd(t))
		if took := time.Since(began); took < by {
			t.Errorf("the event took %s, want %s or more", took, by)
		}
	})
	t.Run("OK/HoldUntilEnd", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.HoldStream(fault.RowEvent(1).Nth(2)).As("lag")})
		defer stop()
		from := r.logEnd(t)
		stream := r.stream(t, "", from)
		r.writes(t, 1)
		border := r.logEnd(t)
		r.writes(t, 1)
		r.writes(t, 1)
		end := r.logEnd(t)
		r.await(t, history.MarkFaultFired, "lag")
		again := r.stream(t, "", from) // it doesn't get round the hold
		for _, s := range []*wire.Replica{stream, again} {
			if got := s.At(); got.AtLeast(end) {
				t.Errorf("the stream is at %v although it is held", got)
			}
		}
		reaches(t, stream, border)
		r.do(t, fault.End("lag"))
		r.await(t, history.MarkFaultEnded, "lag")
		reaches(t, stream, end)
		reaches(t, again, end)
	})
	t.Run("OK/Duplicate", func(t *testing.T) {
		for _, uuid := range []string{"", "c0ffee00-0000-4000-8000-000000000001"} {
			stream := r.stream(t, uuid, r.logEnd(t))
			r.writes(t, 1)
			reaches(t, stream, r.logEnd(t))
			r.do(t, fault.DuplicateStream())
			err := ends(t, stream)
			t.Log(err)
			if err == nil || !strings.Contains(err.Error(), "1236") {
				t.Errorf("uuid %q: the subject's stream ended with %v, want the source's error 1236", uuid, err)
			}
			again := r.stream(t, uuid, r.logEnd(t))
			r.writes(t, 1)
			reaches(t, again, r.logEnd(t))
		}
	})
	t.Run("OK/DuplicateWhileHeld", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.AtEvent(fault.RowEvent(2), fault.DuplicateStream())})
		stream := r.stream(t, "c0ffee00-0000-4000-8000-000000000002", r.logEnd(t))
		r.writes(t, 2)
		if err := ends(t, stream); err == nil || !strings.Contains(err.Error(), "1236") {
			t.Errorf("the subject's stream ended with %v, want the source's error 1236", err)
		}
		stop()
		r.await(t, history.MarkFaultFired, "at row event 2 of a transaction: open a second stream under the subject's server id")
	})
	t.Run("ErrNoStreamToDuplicate", func(t *testing.T) {
		err := (fault.Plan{fault.First(fault.DuplicateStream())}).Arm(t.Context(), r.Site).Stop()
		if err == nil || !strings.Contains(err.Error(), "no stream open") {
			t.Errorf("got %v, want an error that says what is missing", err)
		}
	})
}
