package fault_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"rowproof/harness/topology"
)

// count returns how many rows of this id a plain read sees on the source.
func (r *rig) count(t *testing.T, id int) int { return r.countOn(t, r.Cluster.Source(), id) }

// onReplicaNow returns how many rows of this id the replica has.
func (r *rig) onReplicaNow(t *testing.T, id int) int {
	return r.countOn(t, r.Cluster.Replicas()[0], id)
}

// onReplica waits for one.
func (r *rig) onReplica(t *testing.T, id int) int {
	t.Helper()
	r.eventually(t, "the row is on the replica", func() bool { return r.onReplicaNow(t, id) > 0 })
	return r.onReplicaNow(t, id)
}

func (r *rig) countOn(t *testing.T, server *topology.Server, id int) int {
	t.Helper()
	var n int
	query := "SELECT COUNT(*) FROM `" + r.Schema + "`.`" + r.Table.Name + "` WHERE id = ?"
	if err := server.DB.QueryRowContext(t.Context(), query, id).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually waits until a condition holds.
func (r *rig) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("wait until %s: it did not come", what)
		}
	}
}

// text returns one value as text.
func text(t *testing.T, db *sql.DB, query string, args ...any) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}
