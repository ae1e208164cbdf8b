package fault_test

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"rowproof/fixtures"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// pool hands the tests warm clusters.
var pool topology.Pool

func TestMain(m *testing.M) {
	status := m.Run()
	if err := pool.Close(); err != nil {
		println("close clusters:", err.Error())
		status = 1
	}
	if err := goleak.Find(goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon")); err != nil && status == 0 {
		println(err.Error())
		status = 1
	}
	os.Exit(status)
}

// rig is a site with a subject that the test itself plays: its statements go
// through the proxy, and name their steps as our engine's do.
type rig struct {
	*fault.Site
	subject *sql.DB
}

// semiSync is a source that waits for its replica's ACK.
var semiSync = topology.Spec{Replicas: 1, SemiSync: true, GTID: true, PerformanceSchema: true}

// newRig starts a site on a cluster with the table pair, ids 1 to 3. The
// cluster is not used again if dirty.
func newRig(t *testing.T, spec topology.Spec, dirty bool) *rig {
	t.Helper()
	ctx := t.Context()
	cluster, err := pool.Get(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := pool.Put(ctx, cluster, !dirty && !t.Failed()); err != nil {
			t.Error(err)
		}
	})
	source := cluster.Source()
	if _, err := source.DB.ExecContext(ctx, "CREATE DATABASE `"+topology.Database+"`"); err != nil {
		t.Fatal(err)
	}
	table := fixtures.Pair()
	if err := table.Load(ctx, source.DB, topology.Database); err != nil {
		t.Fatal(err)
	}
	if err := cluster.WaitReplicated(ctx); err != nil {
		t.Fatal(err)
	}
	start, err := observe.BinlogEnd(ctx, source.DB)
	if err != nil {
		t.Fatal(err)
	}
	link := func() *topology.Link {
		l, err := topology.NewLink(source.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closing(t, l.Close) })
		return l
	}
	links := fault.Links{Subject: link(), App: link()}
	recorder := history.NewRecorder()
	proxy, err := wire.Listen(context.WithoutCancel(ctx), wire.Config{
		Upstream: links.Subject.Addr, Phrasebook: wire.CommentPhrasebook("osc"), Recorder: recorder,
		StreamTables: []string{topology.Database + "." + table.Name},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, proxy.Close) })
	r := &rig{Site: &fault.Site{
		Cluster: cluster, Proxy: proxy, Links: links, Table: table, Schema: topology.Database, Recorder: recorder,
		Names: fault.Names{Shadow: "_pair_new", Old: "_pair_old"},
		Start: start,
	}}
	r.App = r.open(t, links.App.Addr, topology.App())
	r.subject = r.open(t, proxy.Addr(), topology.Migrator())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Finish(ctx); err != nil {
			t.Errorf("finish: %v", err)
		}
	})
	return r
}

func (r *rig) open(t *testing.T, addr string, account topology.Account) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(account.Config(addr, topology.Database))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { closing(t, db.Close) })
	return db
}

func closing(t *testing.T, f func() error) {
	t.Helper()
	if err := f(); err != nil {
		t.Error(err)
	}
}

// do carries out actions at once, as the moment First does.
func (r *rig) do(t *testing.T, actions ...fault.Action) {
	t.Helper()
	if err := (fault.Plan{fault.First(actions...)}).Arm(t.Context(), r.Site).Stop(); err != nil {
		t.Fatal(err)
	}
}

// exec has the subject send a statement.
func (r *rig) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := r.subject.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// marks counts the marks of a name.
func (r *rig) marks(name string) int {
	n := 0
	for _, m := range r.Recorder.Marks() {
		if m.Name == name {
			n++
		}
	}
	return n
}
