package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
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

const checkpoint step.Step = "checkpoint"

// Wherever osc is killed, --resume goes on from its checkpoint; where there
// is none, or the swap was done, it says so and changes nothing.
func TestResume(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	const schema = topology.Database
	for _, c := range []struct {
		name string
		rule wire.Rule
		says string // why there is nothing to resume; "": there is
	}{
		{"before the control table", wire.Rule{Step: step.Shadow, Occurrence: 1}, "no shadow table of an earlier run"},
		{"before the ALTER", wire.Rule{Step: step.Shadow, Occurrence: 3}, "ended before its first checkpoint"},
		{"before attach", wire.Rule{Step: step.Attach}, "ended before its first checkpoint"},
		{"before the sentinel", wire.Rule{Step: step.Sentinel}, "ended before its first checkpoint"},
		{"before the first checkpoint", wire.Rule{Step: checkpoint, Occurrence: 1}, "ended before its first checkpoint"},
		{"after the first checkpoint", wire.Rule{Step: checkpoint, Occurrence: 1, Phase: wire.After}, ""},
		{"before a copy", wire.Rule{Step: step.CopyWrite, Occurrence: 2}, ""},
		{"after a copy", wire.Rule{Step: step.CopyWrite, Occurrence: 2, Phase: wire.After}, ""},
		{"after the last copy", wire.Rule{Step: step.CopyWrite, Occurrence: 4, Phase: wire.After}, ""},
		{"before the lock", wire.Rule{Step: step.Lock}, ""},
		{"under the lock", wire.Rule{Step: step.Lock, Phase: wire.After}, ""},
		{"before the swap", wire.Rule{Step: step.Rename}, ""},
		{"after the swap", wire.Rule{Step: step.Rename, Phase: wire.After}, "that migration is done"},
		{"before the clean-up", wire.Rule{Step: step.Cleanup}, "that migration is done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := b.small(t)
			b.kill(t, ctx, c.rule, "--checkpoint-seconds=0.01")
			execute(t, b.server.DB, "UPDATE "+schema+".t SET v = v + 1") // the application goes on
			before := count(t, b.server, "_t_new", "_t_osc")
			exit := b.run(t, ctx, "--resume")
			if c.says == "" {
				if exit.Outcome != subject.Completed {
					t.Errorf("resumed run: got %s (%s), want completed", exit.Outcome, exit.Message)
				}
				b.expect(t, ctx, "1=2 2=3 3=4")
				return
			}
			if exit.Outcome != subject.Refused || !strings.Contains(exit.Message, c.says) {
				t.Errorf("resumed run: got %s (%s), want it refused and to say %q", exit.Outcome, exit.Message, c.says)
			}
			if after := count(t, b.server, "_t_new", "_t_osc"); after != before {
				t.Errorf("rows in shadow and control table: got %d after the refusal, %d before", after, before)
			}
		})
	}
}

// What happens to rows that were copied, or were to be copied, while no osc
// runs, reaches the new table. All of it lies behind the checkpoint's key,
// where an engine is tempted to leave it to the copy.
func TestResumeAppliesWhatHappenedMeanwhile(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	const schema = topology.Database
	for _, gtid := range []bool{false, true} {
		for _, unique := range []bool{false, true} {
			t.Run(fmt.Sprintf("gtid %v, new unique key %v", gtid, unique), func(t *testing.T) {
				ctx := b.small(t)
				b.alter = "MODIFY v BIGINT"
				if unique {
					b.alter = "MODIFY v BIGINT, ADD UNIQUE KEY uv (v)"
				}
				defer func() { b.alter = "MODIFY v BIGINT" }()
				flags := []string{"--checkpoint-seconds=3600"} // the first checkpoint alone: nothing copied
				if gtid {
					flags = append(flags, "--gtid")
				}
				execute(t, b.server.DB, "INSERT INTO "+schema+".t VALUES (4, 4), (5, 5)")
				b.kill(t, ctx, wire.Rule{Step: step.CopyWrite, Occurrence: 4, Phase: wire.After}, flags...)
				execute(t, b.server.DB,
					"DELETE FROM "+schema+".t WHERE id = 2",
					"UPDATE "+schema+".t SET v = 2 WHERE id = 1", // the value of the row that is gone
					"UPDATE "+schema+".t SET id = 30 WHERE id = 3",
					"INSERT INTO "+schema+".t VALUES (0, 10), (6, 6)",
				)
				// And more of it before the resumed run attaches.
				exit := b.runHeld(t, ctx, wire.Rule{Step: step.Dump}, []string{
					"DELETE FROM " + schema + ".t WHERE id = 4",
					"INSERT INTO " + schema + ".t VALUES (2, 20)",
					"UPDATE " + schema + ".t SET v = 60 WHERE id = 6",
				}, append(flags, "--resume", "--verify=off")...)
				if exit.Outcome != subject.Completed {
					t.Fatalf("resumed run: got %s (%s), want completed", exit.Outcome, exit.Message)
				}
				b.expect(t, ctx, "0=10 1=2 2=20 5=5 6=60 30=3")
			})
		}
	}
}

// A resumed run copies what lies behind the checkpoint's key and nothing
// else, and still applies a change on either side of it.
func TestResumeFromTheMiddle(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	const schema = topology.Database
	ctx := b.small(t)
	execute(t, b.server.DB, "INSERT INTO "+schema+".t VALUES (4, 4), (5, 5), (6, 6)")
	flags := []string{"--threads=1", "--checkpoint-seconds=0.01"}
	b.held(t, ctx, wire.Rule{Step: step.CopyWrite, Occurrence: 4}, func(proxy *wire.Proxy, p subject.Running) {
		// Row 3 is copied. A checkpoint that was under way may not say so yet.
		for range 3 {
			if _, err := proxy.Await(ctx, checkpoint, wire.After); err != nil {
				t.Fatal(err)
			}
		}
		end(t, ctx, p, syscall.SIGKILL)
	}, flags...)
	execute(t, b.server.DB,
		"UPDATE "+schema+".t SET v = 10 WHERE id = 1",
		"DELETE FROM "+schema+".t WHERE id IN (2, 5)",
		"INSERT INTO "+schema+".t VALUES (0, 0), (7, 7)",
		"UPDATE "+schema+".t SET v = 40 WHERE id = 4",
	)
	exit := b.runHeld(t, ctx, wire.Rule{Step: step.Lock}, nil, append(flags, "--resume", "--verify=off")...)
	if exit.Outcome != subject.Completed {
		t.Fatalf("resumed run: got %s (%s), want completed", exit.Outcome, exit.Message)
	}
	if got := b.copies.Hits(); got != 4 { // rows 4, 6, 7, and the open end
		t.Errorf("chunks of the resumed run: got %d, want 4", got)
	}
	b.expect(t, ctx, "0=0 1=10 3=3 4=40 6=6 7=7")
}

// A run that goes on may itself be killed, or interrupted, and so on.
func TestResumeTwice(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	const schema = topology.Database
	ctx := b.small(t)
	b.kill(t, ctx, wire.Rule{Step: step.CopyWrite, Occurrence: 1}, "--checkpoint-seconds=0.01")
	for round := range 3 {
		execute(t, b.server.DB, "UPDATE "+schema+".t SET v = v + 1")
		b.kill(t, ctx, wire.Rule{Step: step.CopyNext, Occurrence: 1, Phase: wire.After}, "--resume", "--checkpoint-seconds=0.01")
		if got := count(t, b.server, "t"); got != 3 {
			t.Fatalf("rows after kill %d: got %d, want 3", round+2, got)
		}
	}
	b.signal(t, ctx, syscall.SIGTERM, wire.Rule{Step: step.CopyNext, Occurrence: 1}, "--resume")
	exit := b.run(t, ctx, "--resume")
	if exit.Outcome != subject.Completed {
		t.Fatalf("last run: got %s (%s), want completed", exit.Outcome, exit.Message)
	}
	b.expect(t, ctx, "1=4 2=5 3=6")
}

// An interrupted run clears its tables away, unless --checkpoint asks it to
// keep them.
func TestInterrupt(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("checkpoint %v", keep), func(t *testing.T) {
			ctx := b.small(t)
			exit := b.signal(t, ctx, syscall.SIGTERM, wire.Rule{Step: step.CopyWrite, Occurrence: 2}, fmt.Sprintf("--checkpoint=%v", keep))
			if exit.Outcome != subject.Aborted {
				t.Errorf("interrupted run: got %s (%s), want aborted", exit.Outcome, exit.Message)
			}
			if left := count(t, b.server, "_t_osc") > 0; left != keep {
				t.Errorf("control table left behind: got %v, want %v", left, keep)
			}
			exit = b.run(t, ctx, fmt.Sprintf("--resume=%v", keep))
			if exit.Outcome != subject.Completed {
				t.Errorf("next run: got %s (%s), want completed", exit.Outcome, exit.Message)
			}
			b.expect(t, ctx, "1=1 2=2 3=3")
		})
	}
}

// What an earlier run left is refused if going on from it could lose a row,
// and stays as it is.
func TestResumeRefuses(t *testing.T) {
	b := newBench(t, topology.Spec{GTID: true})
	const schema = topology.Database
	unlogged := func(statement string) []string {
		return []string{"SET SESSION sql_log_bin = 0", statement, "SET SESSION sql_log_bin = 1"}
	}
	document := func(path, value string) []string {
		return unlogged("UPDATE " + schema + "._t_osc SET document = JSON_SET(document, '" + path + "', " + value + ") WHERE name = 'checkpoint'")
	}
	for _, c := range []struct {
		name  string
		alter string
		flags []string // of both runs
		do    []string // on one session, between the runs
		undo  []string
		says  string // "": not refused
	}{
		{name: "the same ALTER in other words", alter: " modify  v /* wide */ BIGINT ", says: "the shadow was made by another ALTER"}, // letter case may matter, in names
		{name: "the same ALTER with other spaces", alter: " MODIFY  v /* wide */ BIGINT "},
		{name: "another ALTER", alter: "MODIFY v BIGINT NOT NULL", says: "the shadow was made by another ALTER"},
		{name: "a changed original", do: []string{"ALTER TABLE " + schema + ".t ADD COLUMN w INT"}, says: "somebody changed the definition of the table"},
		{name: "a changed comment of the original", do: []string{"ALTER TABLE " + schema + ".t COMMENT 'AUTO_INCREMENT=7'"}, says: "somebody changed the definition of the table"},
		{name: "a changed shadow", do: []string{"ALTER TABLE " + schema + "._t_new MODIFY v INT"}, says: "somebody changed the definition of the shadow"},
		{name: "no shadow", do: []string{"DROP TABLE " + schema + "._t_new"}, says: "no shadow table of an earlier run"},
		{name: "no checkpoint", do: []string{"DELETE FROM " + schema + "._t_osc WHERE name = 'checkpoint'"}, says: "ended before its first checkpoint"},
		{name: "another format", do: document("$.format", "99"), says: "has format 99"},
		{name: "another server", do: document("$.migration.server_uuid", "'elsewhere'"), says: "another server answers"},
		{name: "a key that is none", do: document("$.progress.after", `CAST('["1 OR TRUE"]' AS JSON)`), says: "is no part of a key"},
		{name: "purged binlogs", do: []string{"FLUSH BINARY LOGS", "FLUSH BINARY LOGS", "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY"}, says: "which the checkpoint names, is gone"},
		{name: "purged GTIDs", flags: []string{"--gtid"},
			do:   []string{"FLUSH BINARY LOGS", "INSERT INTO " + schema + ".t VALUES (9, 9)", "FLUSH BINARY LOGS", "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY"},
			says: "has purged transactions"},
		{name: "binlogs that start anew", do: []string{"RESET BINARY LOGS AND GTIDS"}, says: "which the checkpoint names, is gone"},
		{name: "a binlog that is cut short", do: document("$.progress.pos", "4000000000"), says: "before the checkpoint's position"},
		{name: "GTIDs that start anew", flags: []string{"--gtid"}, do: []string{"RESET BINARY LOGS AND GTIDS"}, says: "its history is another one"},
		{name: "another binlog with the same position",
			do:   append([]string{"RESET BINARY LOGS AND GTIDS"}, append(document("$.progress.file", "'binlog.000001'"), document("$.progress.pos", "4")...)...),
			says: "it is another history"},
		{name: "somebody else's definition change, undone",
			do:   []string{"ALTER TABLE " + schema + ".t ADD COLUMN w INT", "ALTER TABLE " + schema + ".t DROP COLUMN w"},
			says: "a definition change of t by somebody else"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := b.small(t)
			b.kill(t, ctx, wire.Rule{Step: step.CopyWrite, Occurrence: 2}, append(c.flags, "--checkpoint-seconds=3600")...)
			b.endStreams(t, ctx)
			conn, err := b.server.DB.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, statement := range c.do {
				if _, err := conn.ExecContext(ctx, statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			before := count(t, b.server, "t", "_t_new")
			if c.alter != "" {
				b.alter = c.alter
				defer func() { b.alter = "MODIFY v BIGINT" }()
			}
			exit := b.run(t, ctx, append(c.flags, "--resume")...)
			switch {
			case c.says == "" && exit.Outcome != subject.Completed:
				t.Errorf("got %s (%s), want completed", exit.Outcome, exit.Message)
			case c.says == "":
			case exit.Outcome != subject.Refused && exit.Outcome != subject.Aborted, !strings.Contains(exit.Message, c.says):
				t.Errorf("got %s (%s), want it refused and to say %q", exit.Outcome, exit.Message, c.says)
			default:
				if after := count(t, b.server, "t", "_t_new"); after != before {
					t.Errorf("rows in original and shadow: got %d after the refusal, %d before", after, before)
				}
			}
		})
	}
}

// A server that restarts, or dies, while no osc runs, makes no difference.
func TestResumeAfterServerRestart(t *testing.T) {
	b := newBench(t, topology.Spec{})
	const schema = topology.Database
	for _, c := range []struct {
		name string
		end  func(context.Context) error
	}{
		{"terminated", b.server.Terminate},
		{"killed", b.server.Kill},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := b.small(t)
			b.kill(t, ctx, wire.Rule{Step: step.CopyWrite, Occurrence: 3}, "--checkpoint-seconds=0.01")
			execute(t, b.server.DB, "UPDATE "+schema+".t SET v = v + 1 WHERE id = 1")
			if err := c.end(ctx); err != nil {
				t.Fatal(err)
			}
			if err := b.server.StartAgain(ctx); err != nil {
				t.Fatal(err)
			}
			execute(t, b.server.DB, "DELETE FROM "+schema+".t WHERE id = 2")
			exit := b.run(t, ctx, "--resume")
			if exit.Outcome != subject.Completed {
				t.Fatalf("resumed run: got %s (%s), want completed", exit.Outcome, exit.Message)
			}
			b.expect(t, ctx, "1=2 3=3")
		})
	}
}

// bench is a server and an osc to kill on it.
type bench struct {
	server  *topology.Server
	subject subject.Subject
	table   string
	alter   string
	copies  *wire.Gate // of the run that was held last: sees each chunk
}

func newBench(t testing.TB, spec topology.Spec) *bench {
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
	return &bench{server: start(t, spec), subject: subject.Engine(build), table: "t", alter: "MODIFY v BIGINT"}
}

// small makes a table of three rows.
func (b *bench) small(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	const schema = topology.Database
	execute(t, b.server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
		"CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v INT)", "INSERT INTO "+schema+".t VALUES (1, 1), (2, 2), (3, 3)")
	return ctx
}

// expect compares the rows of the table, and looks for what is left.
func (b *bench) expect(t *testing.T, ctx context.Context, want string) {
	t.Helper()
	var got, kind string
	err := b.server.DB.QueryRowContext(ctx, "SELECT GROUP_CONCAT(id, '=', v ORDER BY id SEPARATOR ' '), (SELECT DATA_TYPE FROM information_schema.COLUMNS"+
		" WHERE TABLE_SCHEMA = 'rowproof' AND TABLE_NAME = 't' AND COLUMN_NAME = 'v') FROM "+topology.Database+".t").Scan(&got, &kind)
	if err != nil || got != want || kind != "bigint" {
		t.Errorf("rows: got %q, %s (%v), want %q, bigint", got, kind, err, want)
	}
	if left := count(t, b.server, "_t_new", "_t_osc"); left != 0 {
		t.Errorf("left behind: %d rows in shadow or control table", left)
	}
}

// begin starts osc. Without another --chunk-size, each row is a chunk, so
// that there are moments between them.
func (b *bench) begin(t testing.TB, ctx context.Context, addr string, flags ...string) subject.Running {
	t.Helper()
	return launchTarget(t, ctx, b.subject, addr, subject.Target{
		Schema: topology.Database, Table: b.table, Alter: b.alter, Verify: true, Extra: append([]string{"--chunk-size=1"}, flags...),
	})
}

// run runs osc to its end.
func (b *bench) run(t *testing.T, ctx context.Context, flags ...string) history.Exit {
	t.Helper()
	result, err := b.begin(t, ctx, b.server.Addr, flags...).Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result.Exit
}

// kill runs osc until the rule holds it, and kills it there.
func (b *bench) kill(t *testing.T, ctx context.Context, rule wire.Rule, flags ...string) {
	t.Helper()
	if got := b.signal(t, ctx, syscall.SIGKILL, rule, flags...); got.Outcome != subject.Killed {
		t.Fatalf("osc was to be killed: got %s (%s)", got.Outcome, got.Message)
	}
}

// endStreams ends the binlog streams of an osc that was killed. The server
// learns that a reader is gone when it next writes to it, and until then does
// not purge the file that it read.
func (b *bench) endStreams(t *testing.T, ctx context.Context) {
	t.Helper()
	for {
		var id uint64
		switch err := b.server.DB.QueryRowContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' LIMIT 1").Scan(&id); {
		case errors.Is(err, sql.ErrNoRows):
			return
		case err != nil:
			t.Fatal(err)
		}
		var gone *mysql.MySQLError
		if _, err := b.server.DB.ExecContext(ctx, fmt.Sprintf("KILL %d", id)); err != nil && !(errors.As(err, &gone) && gone.Number == 1094) {
			t.Fatal(err)
		}
	}
}

func (b *bench) signal(t *testing.T, ctx context.Context, s syscall.Signal, rule wire.Rule, flags ...string) history.Exit {
	t.Helper()
	return b.held(t, ctx, rule, func(_ *wire.Proxy, p subject.Running) { end(t, ctx, p, s) }, flags...)
}

// end signals osc. One that is killed is awaited: nothing may be released
// before that.
func end(t *testing.T, ctx context.Context, p subject.Running, s syscall.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
	if s == syscall.SIGKILL {
		if _, err := p.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// runHeld runs osc to its end, and the statements while the rule holds it.
func (b *bench) runHeld(t *testing.T, ctx context.Context, rule wire.Rule, statements []string, flags ...string) history.Exit {
	t.Helper()
	return b.held(t, ctx, rule, func(*wire.Proxy, subject.Running) { execute(t, b.server.DB, statements...) }, flags...)
}

func (b *bench) held(t *testing.T, ctx context.Context, rule wire.Rule, do func(*wire.Proxy, subject.Running), flags ...string) history.Exit {
	t.Helper()
	proxy, err := wire.Listen(ctx, wire.Config{Upstream: b.server.Addr, Phrasebook: b.subject.Phrasebook()})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	gate := proxy.Gate(rule)
	b.copies = proxy.Gate(wire.Rule{Step: step.CopyWrite, Action: wire.Observe})
	process := b.begin(t, ctx, proxy.Addr(), flags...)
	reached, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-process.Done():
			stop()
		case <-reached.Done():
		}
	}()
	if _, err := gate.Wait(reached); err != nil {
		result, ended := process.Wait(ctx)
		t.Fatalf("%v; osc: %+v, %v", err, result.Exit, ended)
	}
	do(proxy, process)
	gate.Release()
	result, err := process.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result.Exit
}
