package workload_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"rowproof/fixtures"
	"rowproof/harness/topology"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// start starts a cluster with the table loaded, and returns a pool as the
// application has it.
func start(t *testing.T, spec topology.Spec, table fixtures.Table) (*topology.Cluster, *sql.DB) {
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
	if _, err := c.Source().DB.ExecContext(t.Context(), "CREATE DATABASE "+topology.Database); err != nil {
		t.Fatal(err)
	}
	if err := table.Load(t.Context(), c.Source().DB, topology.Database); err != nil {
		t.Fatal(err)
	}
	return c, open(t, c, c.Source().Addr)
}

func open(t *testing.T, c *topology.Cluster, addr string) *sql.DB {
	t.Helper()
	config := c.Source().Config(topology.App(), topology.Database)
	config.Addr = addr
	config.Logger = &mysql.NopLogger{} // connections are cut on purpose here
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
