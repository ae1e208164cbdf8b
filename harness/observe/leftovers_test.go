package observe_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestLeftovers(t *testing.T) {
	source := server(t, topology.Spec{PerformanceSchema: true}).Source()
	db := source.DB
	run(t, db, "CREATE DATABASE "+topology.Database, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY)")
	user := topology.Migrator().User
	before, err := observe.TakeInventory(t.Context(), db, user)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() []history.Leftover {
		t.Helper()
		left, err := observe.Leftovers(t.Context(), db, before, observe.Allowed{User: user, Tables: []observe.TableRef{table("_t_old")}, Wait: 300 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	t.Run("OK", func(t *testing.T) {
		run(t, db, "CREATE TABLE "+schema+"._t_old (id INT PRIMARY KEY)")
		if left := ask(); len(left) > 0 {
			t.Errorf("got %v, want nothing", left)
		}
	})
	t.Run("Err", func(t *testing.T) {
		run(t, db, "CREATE TABLE "+schema+"._t_new (id INT)", "CREATE TRIGGER "+schema+".tr BEFORE INSERT ON "+schema+".t FOR EACH ROW SET NEW.id = 1")
		migrator, err := sql.Open("mysql", source.Config(topology.Migrator(), "").FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := migrator.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "DO GET_LOCK('mine', 0)"); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range ask() {
			got = append(got, l.Kind)
		}
		if d := cmp.Diff([]string{"lock", "session", "table", "trigger"}, got); d != "" {
			t.Errorf("leftovers (-want +got):\n%s", d)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if err := migrator.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("OK session gone", func(t *testing.T) {
		for _, l := range ask() {
			if l.Kind == "session" || l.Kind == "lock" {
				t.Errorf("got %v, which ended", l)
			}
		}
	})
	t.Run("ErrCancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := observe.Leftovers(ctx, db, before, observe.Allowed{}); err == nil {
			t.Error("got no error")
		}
	})
}
