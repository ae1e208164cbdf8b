package fault_test

import (
	"testing"

	"rowproof/harness/fault"
)

func TestReplicaThreads(t *testing.T) {
	for _, c := range []struct {
		name        string
		column      string
		stop, start fault.Action
	}{
		{"IO", "Replica_IO_Running", fault.StopIO(), fault.StartIO()},
		{"SQL", "Replica_SQL_Running", fault.StopSQL(), fault.StartSQL()},
	} {
		t.Run("OK/"+c.name, func(t *testing.T) {
			r := newRig(t, semiSync, false)
			running := func() string {
				status, err := r.Cluster.Replicas()[0].ReplicaStatus(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return status[c.column]
			}
			r.do(t, c.stop)
			if got := running(); got != "No" {
				t.Errorf("%s: got %s, want No", c.column, got)
			}
			r.do(t, c.start)
			if got := running(); got != "Yes" {
				t.Errorf("%s afterwards: got %s, want Yes", c.column, got)
			}
			if err := r.try(c.start); err == nil {
				t.Error("start what runs: got no error")
			}
		})
	}

	t.Run("OK/SQLStoppedAppliesNothing", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		r.do(t, fault.StopSQL(), r.another("1000")) // its ACK comes
		if got := r.onReplicaNow(t, 1000); got != 0 {
			t.Errorf("rows on the replica: got %d, want 0", got)
		}
		r.do(t, fault.StartSQL())
		if got := r.onReplica(t, 1000); got != 1 {
			t.Errorf("rows on the replica afterwards: got %d, want 1", got)
		}
	})
}

func TestFallBackToAsync(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		status := func() string {
			got, err := r.Cluster.Source().Status(t.Context(), "Rpl_semi_sync_source_status")
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		r.do(t, fault.FallBackToAsync())
		if got := status(); got != "OFF" {
			t.Errorf("semi-sync: got %s, want OFF", got)
		}
		r.do(t, r.another("1000")) // it waits for nobody
		if got := r.count(t, 1000) - r.onReplicaNow(t, 1000); got != 1 {
			t.Errorf("rows of the source that the replica lacks: got %d, want 1", got)
		}
		r.do(t, fault.End("let semi-sync fall back to async"))
		if got := status(); got != "ON" {
			t.Errorf("semi-sync afterwards: got %s, want ON", got)
		}
		if got := text(t, r.Cluster.Source().DB, "SELECT @@GLOBAL.rpl_semi_sync_source_timeout"); got != "3600000" {
			t.Errorf("timeout afterwards: got %s, want 3600000", got)
		}
	})

	t.Run("ErrNoSemiSync", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.FallBackToAsync()); err == nil {
			t.Error("got no error")
		}
	})
}
