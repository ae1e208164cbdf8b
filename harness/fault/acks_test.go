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
	"rowproof/harness/workload"
)

// insert is a write of a new row.
func insert(r *rig, id string) workload.Write {
	return workload.Insert(r.Table, history.Row{"id": history.Text(id), "name": history.Text("unacked"), "val": history.Text("0")})
}

// status waits until a status variable of the source has this value.
func (r *rig) status(t *testing.T, name, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		got, err := r.Cluster.Source().Status(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: got %s, want %s", name, got, want)
		case <-tick.C:
		}
	}
}

// waiting returns the inserts that have not come back.
func (r *rig) waiting() string {
	var ids []string
	for _, op := range r.Recorder.Ops() {
		if op.Return == 0 {
			ids = append(ids, string(op.Changes[0].Key))
		}
	}
	return strings.Join(ids, " ")
}

// waits waits until exactly these inserts have not come back.
func (r *rig) waits(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for r.waiting() != want {
		select {
		case <-ctx.Done():
			t.Fatalf("waiting for an ACK: got %q, want %q", r.waiting(), want)
		case <-tick.C:
		}
	}
}

// Each transaction waits by itself.
var freeOrder = []string{"--binlog-order-commits=OFF"}

func TestWithholdAcks(t *testing.T) {
	const sessions = "Rpl_semi_sync_source_wait_sessions"
	for _, c := range []struct {
		name     string
		options  []string
		sessions string // that wait for an ACK when three writes do
		left     string // inserts that wait after the ACK of the second
	}{
		{"EachWaitsForItsOwn", freeOrder, "3", "103"},
		{"TheSecondWaitsWithTheThird", nil, "1", "102 103"},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			spec := semiSync
			spec.SourceOptions = c.options
			r := newRig(t, spec, false)
			first, second, third := insert(r, "101"), insert(r, "102"), insert(r, "103")
			r.do(t, fault.WithholdAcks(), fault.WriteUnacked(first, second, third))
			r.status(t, sessions, c.sessions)
			if got := r.waiting(); got != "101 102 103" {
				t.Errorf("waiting: got %q, want all three", got)
			}
			r.do(t, fault.AckUpTo(second))
			r.waits(t, c.left)
			r.do(t, fault.AckAll())
			r.waits(t, "")

			// The next one waits again, until it is all over.
			r.do(t, fault.WriteUnacked(insert(r, "104")))
			r.do(t, fault.End("withhold the ACKs"))
			r.waits(t, "")
			r.status(t, "Rpl_semi_sync_source_clients", "1")
			r.do(t, fault.Write(insert(r, "105")))
		})
	}
	t.Run("ErrNoSemiSync", func(t *testing.T) {
		r := newRig(t, plain, false)
		for name, action := range map[string]fault.Action{
			"set Spec.SemiSync":        fault.WithholdAcks(),
			"WithholdAcks comes first": fault.AckAll(),
		} {
			err := (fault.Plan{fault.First(action)}).Arm(t.Context(), r.Site).Stop()
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: got %v, want an error that says %q", action.Name, err, name)
			}
		}
	})
	t.Run("ErrNeverSent", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		r.do(t, fault.WithholdAcks())
		if err := (fault.Plan{fault.First(fault.AckUpTo(insert(r, "9")))}).Arm(t.Context(), r.Site).Stop(); err == nil {
			t.Error("ACK up to a write that was never sent: got no error")
		}
	})
}

// A source without any real replica waits for ours alone.
func TestReplicaAlone(t *testing.T) {
	ctx := t.Context()
	cluster, err := topology.Start(ctx, topology.Spec{SemiSync: true, GTID: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, cluster.Close)
	source := cluster.Source()
	end, err := source.BinlogEnd(ctx)
	if err != nil {
		t.Fatal(err)
	}
	replica := join(t, source.Addr, end)
	made := make(chan error, 1)
	create := func(name string) {
		_, err := source.DB.ExecContext(ctx, "CREATE DATABASE "+name)
		made <- err
	}
	go create("a")
	if err := <-made; err != nil { // it is ACKed at once
		t.Fatal(err)
	}
	replica.Withhold()
	go create("b")
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(replica.Unacked()) == 0 {
		select {
		case <-limit.Done():
			t.Fatal("the source wants no ACK")
		case <-tick.C:
		}
	}
	unacked := replica.Unacked()
	if len(unacked) != 1 || !strings.HasSuffix(unacked[0].GTID, ":2") {
		t.Errorf("unacked: got %+v, want transaction 2", unacked)
	}
	select {
	case err := <-made:
		t.Errorf("the statement came back (%v) without its ACK", err)
	default:
	}
	if err := replica.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil {
		t.Fatal(err)
	}
}

func join(t *testing.T, addr string, from topology.Position) *wire.Replica {
	t.Helper()
	replica, err := wire.JoinReplica(t.Context(), wire.ReplicaConfig{
		Addr: addr, User: topology.Replicator().User, Password: topology.Replicator().Password,
		ServerID: 99, From: wire.LogSpot{File: from.File, Pos: from.Pos}, SemiSync: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, replica.Close) })
	return replica
}
