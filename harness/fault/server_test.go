package fault_test

import (
	"database/sql"
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// another inserts a row with this id.
func (r *rig) another(id string) fault.Action {
	return fault.Write(workload.Insert(r.Table, history.Row{"id": history.Text(id), "name": history.Text("another"), "val": history.Text("1")}))
}

func TestServer(t *testing.T) {
	const start = "SELECT @@pid_file"

	for name, down := range map[string]func(fault.Side, ...string) fault.Action{
		"OK/Killed": fault.KillServer, "OK/Terminated": fault.TerminateServer,
	} {
		for _, side := range []fault.Side{fault.Source, fault.Replicas} {
			t.Run(name+"/"+string(side), func(t *testing.T) {
				r := newRig(t, semiSync, true)
				server := r.Cluster.Source()
				if side == fault.Replicas {
					server = r.Cluster.Replicas()[0]
				}
				before := text(t, server.DB, start)
				r.do(t, down(side, "--max-connections=123").As("down"))
				if err := server.DB.PingContext(t.Context()); err == nil {
					t.Error("ping while it is down: got no error")
				}
				r.do(t, fault.End("down"))
				if got := text(t, server.DB, start); got == before {
					t.Errorf("pid file: got %s as before, want another", got)
				}
				if got := text(t, server.DB, "SELECT @@max_connections"); got != "123" {
					t.Errorf("max_connections: got %s, want 123", got)
				}
				r.do(t, r.another("1000")) // its ACK comes
				if got := r.onReplica(t, 1000); got != 1 {
					t.Errorf("rows on the replica: got %d, want 1", got)
				}
			})
		}
	}

	t.Run("OK/RestartedWithOtherOptions", func(t *testing.T) {
		r := newRig(t, plain, true)
		source := r.Cluster.Source()
		before := text(t, source.DB, start)
		r.do(t, fault.RestartServer(fault.Source, "--binlog-row-image=MINIMAL"))
		if got := text(t, source.DB, start); got == before {
			t.Errorf("pid file: got %s as before, want another", got)
		}
		if got := text(t, source.DB, "SELECT @@binlog_row_image"); got != "MINIMAL" {
			t.Errorf("binlog_row_image: got %s, want MINIMAL", got)
		}
	})

	t.Run("ErrNoReplica", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.KillServer(fault.Replicas)); err == nil {
			t.Error("got no error")
		}
	})
}

func TestFailover(t *testing.T) {
	const identity = "SELECT @@server_uuid"

	// failsOver checks that subject and application find the replica.
	failsOver := func(t *testing.T, r *rig, before ...fault.Action) {
		t.Helper()
		replica := r.Cluster.Replicas()[0]
		old, want := text(t, r.Cluster.Source().DB, identity), text(t, replica.DB, identity)
		for name, db := range map[string]*sql.DB{"subject": r.subject, "application": r.App} {
			if got := text(t, db, identity); got != old {
				t.Errorf("server of the %s before: got %s, want %s", name, got, old)
			}
		}
		r.do(t, append(before, fault.Failover())...)
		for name, db := range map[string]*sql.DB{"subject": r.subject, "application": r.App} {
			r.eventually(t, "the "+name+" has connected", func() bool { return db.PingContext(t.Context()) == nil })
			if got := text(t, db, identity); got != want {
				t.Errorf("server of the %s afterwards: got %s, want %s", name, got, want)
			}
		}
		r.do(t, r.another("2000"))
		if r.Cluster.Source() != replica {
			t.Errorf("source: got %s, want %s", r.Cluster.Source().Name, replica.Name)
		}
		if got := r.count(t, 2000); got != 1 {
			t.Errorf("rows 2000 on the new source: got %d, want 1", got)
		}
	}

	t.Run("OK/ReceivedIsKept", func(t *testing.T) {
		r := newRig(t, semiSync, true)
		failsOver(t, r, fault.StopSQL(), r.another("1000"))
		if got := r.count(t, 1000); got != 1 {
			t.Errorf("rows that the replica had received: got %d, want 1", got)
		}
	})

	t.Run("OK/NotReceivedIsLost", func(t *testing.T) {
		r := newRig(t, semiSync, true)
		w := workload.Insert(r.Table, history.Row{"id": history.Text("1000"), "name": history.Text("lost"), "val": history.Text("1")})
		failsOver(t, r, fault.StopIO(), fault.WriteUnacked(w))
		if got := r.count(t, 1000); got != 0 {
			t.Errorf("rows that the replica had not received: got %d, want 0", got)
		}
	})

	t.Run("OK/OthersFollow", func(t *testing.T) {
		r := newRig(t, topology.Spec{Replicas: 2, GTID: true}, true)
		failsOver(t, r, fault.KillServer(fault.Source))
		if got := r.onReplica(t, 2000); got != 1 {
			t.Errorf("rows 2000 on the other replica: got %d, want 1", got)
		}
	})

	t.Run("OK/WithoutGTIDs", func(t *testing.T) {
		failsOver(t, newRig(t, topology.Spec{Replicas: 1}, true))
	})

	t.Run("ErrOthersCantFollow", func(t *testing.T) {
		r := newRig(t, topology.Spec{Replicas: 2}, false)
		if err := r.try(fault.Failover()); err == nil {
			t.Error("got no error")
		}
	})

	t.Run("ErrNoReplica", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.Failover()); err == nil {
			t.Error("got no error")
		}
	})
}
