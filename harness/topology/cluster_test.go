package topology_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/topology"
)

// start starts a cluster that ends with the test.
func start(t *testing.T, spec topology.Spec) *topology.Cluster {
	t.Helper()
	c, err := topology.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
	})
	return c
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func query[T any](t *testing.T, db *sql.DB, statement string) (value T) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), statement).Scan(&value); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

// within bounds a wait of the test.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const patience = 20 * time.Second

const table = "CREATE TABLE rowproof.t (id INT PRIMARY KEY)"

func TestStart(t *testing.T) {
	t.Run("OKPlain", func(t *testing.T) {
		source := start(t, topology.Spec{}).Source()
		if got := query[string](t, source.DB, "SELECT CONCAT(@@gtid_mode, @@performance_schema)"); got != "OFF0" {
			t.Errorf("gtid_mode and performance_schema are %s, want OFF0", got)
		}
		if host, _, _ := strings.Cut(source.Addr, ":"); host != "127.0.0.1" {
			t.Errorf("the server is at %s, want loopback", source.Addr)
		}
		if got := query[string](t, source.DB, "SELECT @@version"); got != source.Version {
			t.Errorf("Version is %q, want %q", source.Version, got)
		}
	})
	t.Run("OKOptions", func(t *testing.T) {
		c := start(t, topology.Spec{
			Replicas: 2, GTID: true, PerformanceSchema: true,
			Options:        []string{"--binlog-order-commits=OFF", "--init-connect=SET @a = 'b c'"},
			SourceOptions:  []string{"--max-connections=77"},
			ReplicaOptions: []string{"--max-connections=88"},
		})
		const q = "SELECT CONCAT_WS(' ', @@max_connections, @@binlog_order_commits, @@init_connect, @@gtid_mode, @@performance_schema)"
		for n, s := range c.Servers() {
			want := []string{"77", "88", "88"}[n] + " 0 SET @a = 'b c' ON 1"
			if got := query[string](t, s.DB, q); got != want {
				t.Errorf("options of %s are %q, want %q", s.Name, got, want)
			}
		}
	})
	for name, spec := range map[string]topology.Spec{
		"OKFilePositions": {Replicas: 1},
		"OKGTID":          {Replicas: 1, GTID: true},
		"OKSemiSync":      {Replicas: 2, GTID: true, SemiSync: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, spec)
			execute(t, c.Source().DB, "CREATE DATABASE rowproof", table, "INSERT rowproof.t VALUES (1)")
			must(t, c.WaitReplicated(within(t, patience)))
			for _, r := range c.Replicas() {
				if got := query[int](t, r.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 1 {
					t.Errorf("%s has %d rows, want 1", r.Name, got)
				}
			}
			auto := map[bool]string{true: "1", false: "0"}[spec.GTID]
			status, err := c.Replicas()[0].ReplicaStatus(t.Context())
			must(t, err)
			if got := status["Auto_Position"]; got != auto {
				t.Errorf("Auto_Position is %q, want %q", got, auto)
			}
		})
	}
	t.Run("ErrSpec", func(t *testing.T) {
		if _, err := topology.Start(t.Context(), topology.Spec{Replicas: -1}); err == nil {
			t.Error("got nil, want an error")
		}
	})
	t.Run("ErrOption", func(t *testing.T) {
		_, err := topology.Start(t.Context(), topology.Spec{Options: []string{"--no-such-option"}})
		if err == nil || !strings.Contains(err.Error(), "no-such-option") {
			t.Errorf("got %v, want the server's own words", err)
		}
	})
}

func TestAccounts(t *testing.T) {
	source := start(t, topology.Spec{}).Source()
	execute(t, source.DB, "CREATE DATABASE rowproof", "CREATE DATABASE rowproof_2", "CREATE DATABASE other", table)
	open := func(a topology.Account) *sql.DB {
		db, err := sql.Open("mysql", source.Config(a, "").FormatDSN())
		must(t, err)
		t.Cleanup(func() { db.Close() })
		return db
	}
	t.Run("OK", func(t *testing.T) {
		execute(t, open(topology.App()), "INSERT rowproof.t VALUES (1)", "CREATE TABLE other.t (id INT)")
		execute(t, open(topology.Migrator()), "CREATE TABLE rowproof._t_new LIKE rowproof.t", "SHOW BINARY LOG STATUS",
			"LOCK TABLES rowproof.t WRITE", "UNLOCK TABLES", "CREATE TABLE rowproof_2.t (id INT)")
		must(t, open(topology.Replicator()).PingContext(t.Context()))
	})
	t.Run("OKLists", func(t *testing.T) {
		var grants []string
		rows, err := source.DB.QueryContext(t.Context(), "SHOW GRANTS FOR migrator")
		must(t, err)
		defer rows.Close()
		for rows.Next() {
			var grant string
			must(t, rows.Scan(&grant))
			grants = append(grants, grant)
		}
		must(t, rows.Err())
		onDatabase := strings.Join(topology.MigratorPrivileges(), ", ")
		want := []string{
			"GRANT " + strings.Join(topology.MigratorGlobalPrivileges(), ", ") + " ON *.* TO `migrator`@`%`",
			"GRANT " + onDatabase + " ON `rowproof\\_%`.* TO `migrator`@`%`",
			"GRANT " + onDatabase + " ON `rowproof`.* TO `migrator`@`%`",
		}
		for i := range want {
			want[i] = normalGrant(want[i])
		}
		for i := range grants {
			grants[i] = normalGrant(grants[i])
		}
		slices.Sort(want)
		slices.Sort(grants)
		if diff := cmp.Diff(want, grants); diff != "" {
			t.Errorf("grants differ (-want +got):\n%s", diff)
		}
	})
	t.Run("ErrOtherDatabase", func(t *testing.T) {
		if _, err := open(topology.Migrator()).ExecContext(t.Context(), "CREATE TABLE other.x (id INT)"); err == nil {
			t.Error("the migrator made a table in a database that is not its own")
		}
	})
	t.Run("ErrPassword", func(t *testing.T) {
		if err := open(topology.Account{User: "root", Password: "wrong"}).PingContext(t.Context()); err == nil {
			t.Error("a wrong password was let in")
		}
	})
}

// The report that started it all: a transaction that waits for its ACK is in
// the binlog and nobody sees it.
func TestSemiSyncWait(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	source, replica := c.Source(), c.Replicas()[0]
	execute(t, source.DB, "CREATE DATABASE rowproof", table)
	must(t, replica.StopIO(within(t, patience)))
	before, err := source.BinlogEnd(t.Context())
	must(t, err)

	inserted := make(chan error, 1)
	go func() {
		_, err := source.DB.ExecContext(context.WithoutCancel(t.Context()), "INSERT rowproof.t VALUES (1)")
		inserted <- err
	}()
	waitOwned(t, source)
	after, err := source.BinlogEnd(t.Context())
	must(t, err)
	if after.File != before.File || after.Pos <= before.Pos || after.GTIDSet != before.GTIDSet {
		t.Errorf("binlog end went from %+v to %+v, want a later position and the same GTIDs", before, after)
	}
	if got := query[int](t, source.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 0 {
		t.Errorf("%d rows are visible, want 0", got)
	}
	select {
	case err := <-inserted:
		t.Fatalf("the insert returned %v without an ACK", err)
	default:
	}
	must(t, replica.StartIO(within(t, patience)))
	must(t, <-inserted)
	must(t, c.WaitReplicated(within(t, patience)))
	if got := query[int](t, replica.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 1 {
		t.Errorf("the replica has %d rows, want 1", got)
	}
}

// waitOwned waits until a transaction waits for its ACK.
func waitOwned(t *testing.T, source *topology.Server) {
	t.Helper()
	ctx := within(t, patience)
	for {
		owned, err := source.OwnedGTIDs(ctx)
		must(t, err)
		if owned != "" {
			return
		}
	}
}

// A cluster whose source waits for an ACK for ever closes all the same, and
// the waiting client learns of it.
func TestCloseWhileWaiting(t *testing.T) {
	c, err := topology.Start(t.Context(), topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	must(t, err)
	execute(t, c.Source().DB, "CREATE DATABASE rowproof", table)
	must(t, c.Replicas()[0].StopIO(within(t, patience)))
	inserted := make(chan error, 1)
	go func() {
		_, err := c.Source().DB.ExecContext(context.WithoutCancel(t.Context()), "INSERT rowproof.t VALUES (1)")
		inserted <- err
	}()
	waitOwned(t, c.Source())
	began := time.Now()
	must(t, c.Close())
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
	if err := <-inserted; err == nil {
		t.Error("the insert returned nil, want a broken connection")
	}
}

func TestReplicationThreads(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1})
	source, replica := c.Source(), c.Replicas()[0]
	execute(t, source.DB, "CREATE DATABASE rowproof", table)
	must(t, c.WaitReplicated(within(t, patience)))

	must(t, replica.StopSQL(within(t, patience)))
	execute(t, source.DB, "INSERT rowproof.t VALUES (1)")
	if err := c.WaitReplicated(within(t, patience)); err == nil || !strings.Contains(err.Error(), "SQL thread") {
		t.Errorf("WaitReplicated without an SQL thread = %v, want an error that says so", err)
	}
	must(t, replica.StartSQL(within(t, patience)))
	must(t, c.WaitReplicated(within(t, patience)))

	execute(t, replica.DB, "INSERT rowproof.t VALUES (2)")
	execute(t, source.DB, "INSERT rowproof.t VALUES (2)")
	if err := c.WaitReplicated(within(t, patience)); err == nil || !strings.Contains(err.Error(), "wait for replica-1") {
		t.Errorf("WaitReplicated with a conflict = %v, want the replica's error", err)
	}
}

func TestReplicaLink(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1, GTID: true})
	source, replica := c.Source(), c.Replicas()[0]
	link := c.Link(replica.Name)
	link.Down()
	execute(t, source.DB, "CREATE DATABASE rowproof")
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.WaitReplicated(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("WaitReplicated over a broken link = %v, want the deadline", err)
	}
	link.Up()
	must(t, c.WaitReplicated(within(t, patience)))
}

func TestRestart(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	source, replica := c.Source(), c.Replicas()[0]
	execute(t, source.DB, "CREATE DATABASE rowproof", table, "INSERT rowproof.t VALUES (1)")
	addr, db := source.Addr, source.DB

	t.Run("OK", func(t *testing.T) {
		must(t, source.Restart(within(t, patience), "--max-connections=99"))
		if err := db.PingContext(t.Context()); err != nil {
			t.Errorf("the pool from before the restart: %v", err)
		}
		if source.Addr != addr {
			t.Errorf("the address is %s, was %s", source.Addr, addr)
		}
		if got := query[int](t, source.DB, "SELECT @@max_connections"); got != 99 {
			t.Errorf("max_connections is %d, want 99", got)
		}
		if got := query[int](t, source.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 1 {
			t.Errorf("%d rows, want 1", got)
		}
		must(t, c.SemiSyncAttached(within(t, patience)))
	})
	t.Run("OKKill", func(t *testing.T) {
		must(t, source.Kill(within(t, patience)))
		if source.Running() {
			t.Error("the server runs after Kill")
		}
		if err := source.Ping(t.Context()); err == nil {
			t.Error("the server answers after Kill")
		}
		if err := source.Kill(t.Context()); err == nil {
			t.Error("Kill of a dead server = nil, want an error")
		}
		must(t, source.StartAgain(within(t, patience)))
		if got := query[int](t, source.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 1 {
			t.Errorf("%d rows, want 1", got)
		}
		if got := query[int](t, source.DB, "SELECT @@max_connections"); got == 99 {
			t.Error("options of the start before are still there")
		}
		if err := source.StartAgain(t.Context()); err == nil {
			t.Error("StartAgain of a running server = nil, want an error")
		}
		must(t, source.WaitReady(within(t, patience)))
	})
	t.Run("OKReplica", func(t *testing.T) {
		must(t, c.SemiSyncAttached(within(t, patience)))
		must(t, replica.Terminate(within(t, patience)))
		must(t, replica.StartAgain(within(t, patience)))
		execute(t, source.DB, "INSERT rowproof.t VALUES (2)")
		must(t, c.WaitReplicated(within(t, patience)))
		if got := query[int](t, replica.DB, "SELECT COUNT(*) FROM rowproof.t"); got != 2 {
			t.Errorf("%d rows on the replica, want 2", got)
		}
	})
	t.Run("ErrMalformedOption", func(t *testing.T) {
		if err := replica.StartAgain(t.Context(), "port=1"); err == nil || !strings.Contains(err.Error(), "extra options") {
			t.Errorf("got %v, want an error that names the extra options", err)
		}
	})
	t.Run("ErrOption", func(t *testing.T) {
		must(t, replica.Kill(within(t, patience)))
		err := replica.StartAgain(within(t, patience), "--no-such-option")
		if err == nil || !strings.Contains(err.Error(), "no-such-option") {
			t.Errorf("got %v, want the server's own words", err)
		}
	})
}

// normalGrant sorts the privileges of a grant: the server has its own order.
func normalGrant(grant string) string {
	privileges, rest, _ := strings.Cut(strings.TrimPrefix(grant, "GRANT "), " ON ")
	list := strings.Split(privileges, ", ")
	slices.Sort(list)
	return strings.Join(list, ", ") + " ON " + rest
}
