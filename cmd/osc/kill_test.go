package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// Whenever osc dies, the original keeps every row under its name, and the
// next run clears away what was left and migrates the table; or, if the swap
// was done, says so.
func TestKilled(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	build, err := subject.NewBuild(root)
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	for _, c := range []struct {
		name    string
		rule    wire.Rule
		swapped bool
	}{
		{name: "before the control table", rule: wire.Rule{Step: step.Shadow, Occurrence: 1}},
		{name: "before the shadow table", rule: wire.Rule{Step: step.Shadow, Occurrence: 2}},
		{name: "before the ALTER", rule: wire.Rule{Step: step.Shadow, Occurrence: 3}},
		{name: "after the ALTER", rule: wire.Rule{Step: step.Shadow, Occurrence: 3, Phase: wire.After}},
		{name: "before attach", rule: wire.Rule{Step: step.Attach}},
		{name: "before the sentinel", rule: wire.Rule{Step: step.Sentinel}},
		{name: "before the range read", rule: wire.Rule{Step: step.RangeRead}},
		{name: "before a copy", rule: wire.Rule{Step: step.CopyWrite, Occurrence: 2}},
		{name: "after a copy", rule: wire.Rule{Step: step.CopyWrite, Occurrence: 2, Phase: wire.After}},
		{name: "before the lock", rule: wire.Rule{Step: step.Lock}},
		{name: "under the lock", rule: wire.Rule{Step: step.Lock, Phase: wire.After}},
		{name: "before the drain", rule: wire.Rule{Step: step.Drain}},
		{name: "before the swap", rule: wire.Rule{Step: step.Rename}},
		{name: "after the swap", rule: wire.Rule{Step: step.Rename, Phase: wire.After}, swapped: true},
		{name: "before the clean-up", rule: wire.Rule{Step: step.Cleanup}, swapped: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			const schema = topology.Database
			execute(t, server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
				"CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v INT)", "INSERT INTO "+schema+".t VALUES (1, 1), (2, 2), (3, 3)")
			killAt(t, ctx, subject.Engine(build), server, c.rule)
			if got := count(t, server, "t"); got != 3 {
				t.Errorf("rows after the kill: got %d, want 3", got)
			}
			execute(t, server.DB, "UPDATE "+schema+".t SET v = v + 1") // the application goes on

			exit := migrate(t, ctx, subject.Engine(build), server.Addr)
			switch {
			case c.swapped && exit.Outcome != subject.Refused:
				t.Errorf("next run: got %s (%s), want refused: the swap was done", exit.Outcome, exit.Message)
			case !c.swapped && exit.Outcome != subject.Completed:
				t.Errorf("next run: got %s (%s), want completed", exit.Outcome, exit.Message)
			}
			var sum, wide int
			err := server.DB.QueryRowContext(ctx, "SELECT SUM(v), (SELECT DATA_TYPE = 'bigint' FROM information_schema.COLUMNS"+
				" WHERE TABLE_SCHEMA = 'rowproof' AND TABLE_NAME = 't' AND COLUMN_NAME = 'v') FROM "+schema+".t").Scan(&sum, &wide)
			if err != nil || sum != 9 || wide != 1 {
				t.Errorf("table: got sum %d, bigint %d (%v), want 9 and 1", sum, wide, err)
			}
			if got := count(t, server, "_t_new", "_t_osc"); !c.swapped && got != 0 {
				t.Errorf("left behind: %d rows in shadow or control table", got)
			}
		})
	}
}

// killAt runs osc through a proxy and kills it while the proxy holds it.
func killAt(t *testing.T, ctx context.Context, s subject.Subject, server *topology.Server, rule wire.Rule) {
	t.Helper()
	proxy, err := wire.Listen(ctx, wire.Config{Upstream: server.Addr, Phrasebook: s.Phrasebook()})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	gate := proxy.Gate(rule)
	process := launch(t, ctx, s, proxy.Addr())
	if _, err := gate.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := process.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

func migrate(t *testing.T, ctx context.Context, s subject.Subject, addr string) history.Exit {
	t.Helper()
	result, err := launch(t, ctx, s, addr).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result.Exit
}

func launch(t *testing.T, ctx context.Context, s subject.Subject, addr string) subject.Running {
	t.Helper()
	return launchTarget(t, ctx, s, addr, subject.Target{
		Schema: topology.Database, Table: "t", Alter: "MODIFY v BIGINT", Verify: true, Extra: []string{"--chunk-size=1"},
	})
}

// launchTarget starts a subject on a target at this address.
func launchTarget(t testing.TB, ctx context.Context, s subject.Subject, addr string, target subject.Target) subject.Running {
	t.Helper()
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	target.Host, target.Port = host, port
	target.User, target.Password = topology.Migrator().User, topology.Migrator().Password
	command, err := s.Command(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	process, err := subject.Start(ctx, command, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// count is the number of rows of tables, none for one that is missing.
func count(t *testing.T, server *topology.Server, tables ...string) int {
	t.Helper()
	total := 0
	for _, table := range tables {
		var n int
		err := server.DB.QueryRow("SELECT COUNT(*) FROM " + topology.Database + "." + table).Scan(&n)
		if refused := new(mysql.MySQLError); errors.As(err, &refused) && refused.Number == 1146 {
			continue // there is no such table
		}
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}
