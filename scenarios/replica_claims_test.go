package scenarios_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// A tool that reads the binlog of a replica and writes on the source was
// reported to lose rows (https://github.com/github/gh-ost/issues/841): it takes
// a note that it wrote on the source, when the replica's binlog brings that, for
// a sign that all from before has come. A replica with several workers and
// replica_preserve_commit_order=OFF may write the note first, and what was
// committed before it later.
//
// It can't be a scenario for osc, which has one server: it reads the binlog
// where the table is that it copies and locks. Given such a replica, it
// migrates the table there, and a replica that is read-only it refuses.

func TestReplicaReordersBinlog(t *testing.T) {
	skipListed(t)
	for setting, want := range map[string][]string{"OFF": {"note", "pair"}, "ON": {"pair", "note"}} {
		t.Run(setting, func(t *testing.T) {
			r := newParallelReplica(t, setting)
			r.commitBoth(t)
			if setting == "OFF" {
				r.until(t, "SELECT COUNT(*) = 1 FROM "+topology.Database+".note")
			} else {
				r.until(t, "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for preceding transaction%'")
			}
			r.release(t)
			if got := r.binlog(t); !slices.Equal(got, want) {
				t.Errorf("tables in the order of the replica's binlog: got %q, want %q", got, want)
			}
		})
	}
}

func TestReplicaReordersUnderEngine(t *testing.T) {
	skipListed(t)
	r := newParallelReplica(t, "OFF")
	r.commitBoth(t)
	r.until(t, "SELECT COUNT(*) = 1 FROM "+topology.Database+".note")
	// osc copies what is there, and has to wait for its lock until the late
	// row is committed.
	running := r.start(t)
	r.until(t, "SELECT COUNT(*) = 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE '%osc:lock%' AND STATE LIKE 'Waiting for table metadata lock%'")
	r.release(t)
	if exit := r.wait(t, running); exit.Outcome != subject.Completed {
		t.Fatalf("outcome: got %s (%s), want %s", exit.Outcome, exit.Message, subject.Completed)
	}
	rows, err := observe.All(t.Context(), r.replica.DB, observe.TableRef{Schema: topology.Database, Name: "pair"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 || *rows[3]["id"] != "1000" {
		t.Errorf("rows: got %v, want the three and the late one", rows)
	}
}

func TestReadOnlyReplicaRefused(t *testing.T) {
	skipListed(t)
	r := newParallelReplica(t, "OFF")
	if _, err := r.replica.DB.ExecContext(t.Context(), "SET GLOBAL read_only = ON"); err != nil {
		t.Fatal(err)
	}
	exit := r.wait(t, r.start(t))
	if exit.Outcome != subject.Refused || !strings.Contains(exit.Message, "read-only") {
		t.Errorf("outcome: got %s (%s), want %s for being read-only", exit.Outcome, exit.Message, subject.Refused)
	}
}

// skipListed leaves a test out when the scenarios are to be named.
func skipListed(t *testing.T) {
	t.Helper()
	if os.Getenv(harness.ListEnv) == "1" {
		t.Skip("it is no scenario")
	}
}

// parallelReplica is a source with the tables pair and note, and a replica
// with several workers. A transaction on the replica keeps the late row out of
// pair until release.
type parallelReplica struct {
	source, replica *topology.Server
	cluster         *topology.Cluster
	from            observe.Position // of the replica's binlog
	keeper          *sql.Conn
}

func newParallelReplica(t *testing.T, preserveCommitOrder string) *parallelReplica {
	t.Helper()
	cluster, err := topology.Start(t.Context(), topology.Spec{
		Replicas: 1, GTID: true,
		ReplicaOptions: []string{"--replica-parallel-workers=4", "--replica-preserve-commit-order=" + preserveCommitOrder},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &parallelReplica{source: cluster.Source(), replica: cluster.Replicas()[0], cluster: cluster}
	r.exec(t, r.source.DB, "CREATE DATABASE "+topology.Database)
	if err := fixtures.Pair().Load(t.Context(), r.source.DB, topology.Database); err != nil {
		t.Fatal(err)
	}
	r.exec(t, r.source.DB, "CREATE TABLE "+topology.Database+".note LIKE "+topology.Database+".pair")
	if err := cluster.WaitReplicated(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.from, err = observe.BinlogEnd(t.Context(), r.replica.DB); err != nil {
		t.Fatal(err)
	}
	if r.keeper, err = r.replica.DB.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// commitBoth commits the late row, which the replica can't apply yet, and then
// the note.
func (r *parallelReplica) commitBoth(t *testing.T) {
	t.Helper()
	r.exec(t, r.keeper, "BEGIN")
	r.exec(t, r.keeper, "SELECT 1 FROM "+topology.Database+".pair WHERE id >= 1000 FOR UPDATE")
	r.exec(t, r.source.DB, "INSERT INTO "+topology.Database+".pair VALUES (1000, 'late', 1)")
	r.exec(t, r.source.DB, "INSERT INTO "+topology.Database+".note VALUES (1, 'all before is committed', 1)")
}

// release lets the late row in, and returns once the replica has everything.
func (r *parallelReplica) release(t *testing.T) {
	t.Helper()
	r.exec(t, r.keeper, "ROLLBACK")
	if err := r.cluster.WaitReplicated(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// binlog returns the tables of the rows in the replica's binlog.
func (r *parallelReplica) binlog(t *testing.T) []string {
	t.Helper()
	definition, err := observe.Describe(t.Context(), r.replica.DB, observe.TableRef{Schema: topology.Database, Name: "pair"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := observe.Binlog(t.Context(), r.replica.DB, observe.BinlogSource{
		Server: r.replica.Config(topology.Root(), ""), From: r.from,
		Schema: topology.Database, Table: "pair", Others: []string{"note"}, Before: definition, After: definition,
	})
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for _, row := range rows {
		tables = append(tables, row.Table)
	}
	return tables
}

// start starts osc with the replica as its server.
func (r *parallelReplica) start(t *testing.T) subject.Running {
	t.Helper()
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	build, err := subject.NewBuild(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := build.Close(); err != nil {
			t.Error(err)
		}
	})
	host, text, err := net.SplitHostPort(r.replica.Addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	command, err := subject.Engine(build).Command(t.Context(), subject.Target{
		Host: host, Port: port, User: topology.Migrator().User, Password: topology.Migrator().Password,
		Schema: topology.Database, Table: "pair", Alter: widen,
	})
	if err != nil {
		t.Fatal(err)
	}
	running, err := subject.Start(t.Context(), command, filepath.Join(t.TempDir(), "osc.log"))
	if err != nil {
		t.Fatal(err)
	}
	return running
}

// wait returns how it ended.
func (r *parallelReplica) wait(t *testing.T, running subject.Running) history.Exit {
	t.Helper()
	result, err := running.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result.Exit
}

// until returns once a query on the replica gives 1.
func (r *parallelReplica) until(t *testing.T, query string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var holds bool
		if err := r.replica.DB.QueryRowContext(ctx, query).Scan(&holds); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if holds {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it never came to be: %s", query)
		case <-tick.C:
		}
	}
}

func (r *parallelReplica) exec(t *testing.T, on execer, statement string) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// execer is a pool or one session.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
