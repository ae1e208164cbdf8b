package observe_test

import (
	"context"
	"database/sql"
	"testing"

	"go.uber.org/goleak"

	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schema = "observed"

// server starts one source of its own for a test.
func server(t *testing.T, spec topology.Spec) *topology.Cluster {
	t.Helper()
	c, err := topology.Start(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	run(t, c.Source().DB, "CREATE DATABASE "+schema)
	return c
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func table(name string) observe.TableRef { return observe.TableRef{Schema: schema, Name: name} }
