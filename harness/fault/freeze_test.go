package fault_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/freeze"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// unordered commits in another order than it writes the binlog.
var unordered = topology.Spec{
	Replicas: 1, SemiSync: true, GTID: true, PerformanceSchema: true, Options: []string{"--binlog-order-commits=OFF"},
}

func TestFreeze(t *testing.T) {
	early := func(r *rig) workload.Write {
		return workload.Insert(r.Table, history.Row{"id": history.Text("1000"), "name": history.Text("early"), "val": history.Text("1")})
	}
	late := func(r *rig) workload.Write {
		return workload.Insert(r.Table, history.Row{"id": history.Text("1001"), "name": history.Text("late"), "val": history.Text("1")})
	}
	// park leaves the early write between binlog and commit, with its ACK.
	park := func(t *testing.T, r *rig) {
		t.Helper()
		w := early(r)
		r.do(t, fault.StopIO(), fault.WriteUnacked(w), fault.Freeze(fault.Writing(w)).As("freeze"), fault.StartIO())
		if got := r.onReplica(t, 1000); got != 1 {
			t.Errorf("rows 1000 on the replica: got %d, want 1", got)
		}
		if got := r.count(t, 1000); got != 0 {
			t.Errorf("visible rows 1000: got %d, want 0", got)
		}
	}

	t.Run("OK/LaterWriteOvertakesWithCommitOrderOff", func(t *testing.T) {
		r := newRig(t, unordered, false)
		park(t, r)
		r.do(t, fault.Write(late(r)))
		if got := r.count(t, 1001); got != 1 {
			t.Errorf("visible rows 1001: got %d, want 1", got)
		}
		owned, err := r.Cluster.Source().OwnedGTIDs(t.Context())
		if err != nil || owned == "" {
			t.Errorf("owned GTIDs: got %q, %v; want the one of the early write", owned, err)
		}
		if got := r.count(t, 1000); got != 0 {
			t.Errorf("visible rows 1000: got %d, want 0", got)
		}
		r.do(t, fault.End("freeze"))
		r.eventually(t, "the early write is visible", func() bool { return r.count(t, 1000) == 1 })
	})

	t.Run("OK/LaterWriteQueuesWithCommitOrderOn", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		park(t, r)
		client := workload.NewClient("late", r.App, r.Recorder)
		defer closing(t, client.Close)
		pending, err := client.Start(t.Context(), late(r))
		if err != nil {
			t.Fatal(err)
		}
		r.eventually(t, "the late write is on the replica", func() bool { return r.onReplica(t, 1001) == 1 })
		select {
		case <-pending.Done():
			t.Error("the late write returned before the early one")
		default:
		}
		if got := r.count(t, 1001); got != 0 {
			t.Errorf("visible rows 1001: got %d, want 0", got)
		}
		r.do(t, fault.End("freeze"))
		if err := pending.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if got := r.count(t, 1000) + r.count(t, 1001); got != 2 {
			t.Errorf("visible rows 1000 and 1001: got %d, want 2", got)
		}
	})

	t.Run("OK/ForgottenThreadGoesOnAtTheEnd", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		park(t, r)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := r.Finish(ctx); err != nil {
			t.Fatal(err)
		}
		if got := r.count(t, 1000); got != 1 {
			t.Errorf("visible rows 1000: got %d, want 1", got)
		}
		r.do(t, fault.Write(late(r)))
	})

	for name, which := range map[string]fault.Sessions{
		"OK/Applier": fault.Appliers(), "OK/Workers": fault.Workers(),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, semiSync, false)
			r.do(t, fault.Freeze(which).As("freeze"), fault.Write(late(r)))
			all := text(t, r.Cluster.Source().DB, "SELECT @@GLOBAL.gtid_executed")
			applied := func(seconds int) bool {
				return text(t, r.Cluster.Replicas()[0].DB, "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, ?)", all, seconds) == "0"
			}
			if applied(1) || r.onReplicaNow(t, 1001) != 0 {
				t.Error("the replica has applied the write")
			}
			r.do(t, fault.End("freeze"))
			if !applied(20) || r.onReplicaNow(t, 1001) != 1 {
				t.Error("the replica has not applied the write afterwards")
			}
		})
	}

	t.Run("OK/ReplicaStream", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		r.do(t, fault.Freeze(fault.ReplicaStreams()).As("freeze"))
		// No ACK comes, since nothing is sent.
		r.do(t, fault.WriteUnacked(late(r)))
		r.do(t, fault.End("freeze"))
		r.eventually(t, "the write is visible", func() bool { return r.count(t, 1001) == 1 })
	})

	t.Run("OK/ServerWorksAfterTheWatchdog", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		w := early(r)
		r.do(t, fault.StopIO(), fault.WriteUnacked(w))
		source := r.Cluster.Source()
		inside, err := strconv.Atoi(text(t, source.DB, `SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_INFO = ?`, w.SQL))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := source.PID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id, err := freeze.HostThread(pid, inside)
		if err != nil {
			t.Fatal(err)
		}
		thread, err := freeze.Freeze(t.Context(), id, 500*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		r.do(t, fault.StartIO())
		<-thread.Done()
		r.do(t, fault.Write(late(r)))
		if got := r.count(t, 1000) + r.count(t, 1001); got != 2 {
			t.Errorf("visible rows 1000 and 1001: got %d, want 2", got)
		}
	})

	t.Run("OK/ServerIsKilledMeanwhile", func(t *testing.T) {
		r := newRig(t, semiSync, true)
		park(t, r)
		r.do(t, fault.KillServer(fault.Source), fault.End("kill the source"), fault.End("freeze"))
		if got := r.count(t, 1000); got != 1 { // its own binlog brings it back
			t.Errorf("visible rows 1000: got %d, want 1", got)
		}
	})

	t.Run("ErrNoSuchSession", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		if err := r.try(fault.Freeze(fault.Writing(late(r)))); err == nil {
			t.Error("got no error")
		}
	})

	t.Run("ErrNoPerformanceSchema", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.Freeze(fault.ApplicationSessions())); err == nil {
			t.Error("got no error")
		}
	})
}
