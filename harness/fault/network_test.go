package fault_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
)

func TestNetwork(t *testing.T) {
	r := newRig(t, plain, false)
	const patience = 10 * time.Second

	// ask has the application send a statement over a new or an old
	// connection of its own, and tells how long the answer took.
	ask := func(t *testing.T, query string, patience time.Duration) (time.Duration, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		began := time.Now()
		var got string
		err := r.App.QueryRowContext(ctx, query).Scan(&got)
		return time.Since(began), err
	}
	answers := func(t *testing.T) {
		t.Helper()
		if _, err := ask(t, "SELECT 1", patience); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
	// each begins a fault, and ends it by its name after the test.
	each := func(name string, action fault.Action, test func(t *testing.T)) {
		t.Run("OK/"+name, func(t *testing.T) {
			answers(t)
			r.do(t, action)
			test(t)
			r.do(t, fault.End(action.Label))
			r.await(t, history.MarkFaultEnded, action.Label)
			answers(t)
		})
	}

	each("Latency", fault.Latency(fault.AppPath(), 60*time.Millisecond), func(t *testing.T) {
		if took, err := ask(t, "SELECT 1", patience); err != nil || took < 120*time.Millisecond {
			t.Errorf("an answer took %s (%v), want twice 60 ms or more", took, err)
		}
	})
	each("Jitter", fault.Jitter(fault.AppPath(), 60*time.Millisecond, 20*time.Millisecond), func(t *testing.T) {
		if took, err := ask(t, "SELECT 1", patience); err != nil || took < 80*time.Millisecond {
			t.Errorf("an answer took %s (%v), want twice 40 ms or more", took, err)
		}
	})
	each("Bandwidth", fault.Bandwidth(fault.AppPath(), 200), func(t *testing.T) {
		if took, err := ask(t, "SELECT REPEAT('x', 60000)", patience); err != nil || took < 200*time.Millisecond {
			t.Errorf("60 KB took %s (%v), want 200 ms or more", took, err)
		}
	})
	each("Partition", fault.Partition(fault.AppPath()), func(t *testing.T) {
		for range 2 { // an old connection, and a new one
			if _, err := ask(t, "SELECT 1", 150*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("in a partition: got %v, want silence", err)
			}
		}
	})
	each("Refuse", fault.Refuse(fault.AppPath()), func(t *testing.T) {
		if _, err := ask(t, "SELECT 1", patience); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a broken connection", err)
		}
	})
	each("LimitData", fault.LimitData(fault.AppPath(), 20_000), func(t *testing.T) {
		if _, err := ask(t, "SELECT REPEAT('x', 10000)", patience); err != nil {
			t.Errorf("10 KB: %v", err)
		}
		if _, err := ask(t, "SELECT REPEAT('x', 60000)", patience); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("60 KB: got %v, want a broken connection", err)
		}
	})
	each("SlowClose", fault.SlowClose(fault.AppPath(), 150*time.Millisecond), func(t *testing.T) {
		conn, err := r.App.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var id string
		if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := r.Cluster.Source().DB.ExecContext(t.Context(), "KILL "+id); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			err = conn.PingContext(t.Context())
		}
		if took := time.Since(began); took < 150*time.Millisecond {
			t.Errorf("the end of a connection was seen after %s, want 150 ms or more", took)
		}
	})
	t.Run("OK/Timeout", func(t *testing.T) {
		conn := r.conn(t)
		stop := r.arm(t, fault.Plan{fault.OnceSent(step.Verify, fault.Timeout(fault.SubjectPath(), 100*time.Millisecond))})
		defer stop()
		began := time.Now()
		// It is under way when the silence begins.
		_, err := conn.ExecContext(t.Context(), "/* osc:verify */ DO SLEEP(30)")
		if took := time.Since(began); err == nil || took < 100*time.Millisecond {
			t.Errorf("after %s: got %v, want a connection that is broken after 100 ms", took, err)
		}
		r.exec(t, "DO 1")
	})
	t.Run("OK/ResetBreaksWhatIsOpen", func(t *testing.T) {
		conn := r.conn(t)
		if err := conn.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.do(t, fault.Reset(fault.SubjectPath()))
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("a connection outlived the reset")
		}
		r.exec(t, "DO 1")
	})
	t.Run("ErrTwoOfAKind", func(t *testing.T) {
		slow := fault.Latency(fault.SubjectPath(), time.Millisecond)
		r.do(t, slow)
		if err := (fault.Plan{fault.First(slow)}).Arm(t.Context(), r.Site).Stop(); err == nil {
			t.Error("a second latency on one path: got no error")
		}
		r.do(t, fault.End(slow.Label))
	})
	t.Run("ErrNoSuchReplica", func(t *testing.T) {
		err := (fault.Plan{fault.First(fault.Partition(fault.ReplicaPath("replica-7")))}).Arm(t.Context(), r.Site).Stop()
		if err == nil || !strings.Contains(err.Error(), "no such replica") {
			t.Errorf("got %v, want an error that says what is missing", err)
		}
	})
}

func TestReplicaPath(t *testing.T) {
	r := newRig(t, topology.Spec{Replicas: 1, GTID: true}, false)
	replica := r.Cluster.Replicas()[0]
	part := fault.Partition(fault.ReplicaPath(replica.Name))
	r.do(t, part)
	r.writes(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := r.Cluster.WaitReplicated(ctx); err == nil {
		t.Error("the replica caught up although no byte passes")
	}
	r.do(t, fault.End(part.Label))
	ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := r.Cluster.WaitReplicated(ctx); err != nil {
		t.Error(err)
	}
}
