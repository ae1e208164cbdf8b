package workload_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// The ledger of a load must explain the table it leaves, on a table that
// nobody migrates: what the checker finds here would be the load's own fault.
func TestLoad(t *testing.T) {
	sparse := fixtures.MustCreate("CREATE TABLE sparse (k BIGINT NOT NULL, v INT NOT NULL, note VARCHAR(20), PRIMARY KEY (k))",
		"INSERT INTO sparse VALUES (-7, 1, 'a'), (500, 1, 'b'), (40, 1, 'c')",
		"INSERT INTO sparse VALUES (41, 1, NULL), (42, 1, NULL), (9000000000, 1, NULL), (43, 1, NULL), (44, 1, NULL)")
	for _, table := range []fixtures.Table{fixtures.Pair(), fixtures.Empty(), fixtures.Accounts(5000), fixtures.Codes(2000), fixtures.Sbtest(1000), sparse} {
		t.Run("OK "+table.Name, func(t *testing.T) {
			cluster, db := start(t, topology.Spec{GTID: true}, table)
			load := workload.Load{Table: table, Writers: 4, Readers: 2, Seed: 42}
			record := begin(t, cluster, load)
			rec := history.NewRecorder()
			running, err := load.Start(t.Context(), db, rec)
			if err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { s := running.Summary(); return s.OK >= 400 && s.Reads >= 20 })
			summary, err := running.Stop()
			if err != nil {
				t.Fatal(err)
			}
			if summary.Lost > 0 || summary.Unknown > 0 {
				t.Errorf("got %+v, want no lost read and no unknown outcome", summary)
			}
			judge(t, cluster, record, rec)
			kinds(t, rec.Ops(), len(load.Keys()) > 1)
		})
	}
}

// Connections that are cut again and again leave unknown outcomes, and a
// ledger that still explains the table.
func TestLoadReconnects(t *testing.T) {
	table := fixtures.Accounts(200)
	cluster, _ := start(t, topology.Spec{GTID: true}, table)
	link, err := topology.NewLink(cluster.Source().Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	}()
	db := open(t, cluster, link.Addr)
	load := workload.Load{Table: table, Writers: 4, Readers: 1, Seed: 7}
	record := begin(t, cluster, load)
	rec := history.NewRecorder()
	running, err := load.Start(t.Context(), db, rec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		until(t, func() bool { return running.Summary().OK >= 150*(i+1) })
		link.Reset()
	}
	until(t, func() bool { return running.Summary().OK >= 600 })
	summary, err := running.Stop()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", summary)
	if summary.OK == summary.Writes {
		t.Error("got no operation that failed, want some cut off")
	}
	judge(t, cluster, record, rec)
}

// A load that is cancelled cuts its operations short, and says so.
func TestLoadCancelled(t *testing.T) {
	table := fixtures.Accounts(50)
	_, db := start(t, topology.Spec{}, table)
	ctx, cancel := context.WithCancel(t.Context())
	rec := history.NewRecorder()
	running, err := workload.Load{Table: table, Writers: 2, Readers: 1}.Start(ctx, db, rec)
	if err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return running.Summary().OK >= 10 })
	cancel()
	if _, err := running.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, op := range rec.Ops() {
		if op.Return == 0 {
			t.Errorf("operation %d of %s has no end", op.ID, op.Client)
		}
	}
}

func TestReaders(t *testing.T) {
	table := fixtures.Accounts(50)
	cluster, db := start(t, topology.Spec{}, table)
	for _, c := range []struct {
		name  string
		spoil string
		mend  string
		kind  check.Kind
	}{
		{"Err missing table", "RENAME TABLE accounts TO hidden", "RENAME TABLE hidden TO accounts", check.MissingTable},
		{"Err row missing", "DELETE FROM accounts WHERE id = 1", "INSERT INTO accounts VALUES (1, 'owner 1', 100)", check.TornCutover},
		{"Err counter went back", "UPDATE accounts SET balance = 99 WHERE id = 3", "UPDATE accounts SET balance = 100 WHERE id = 3", check.TornCutover},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := history.NewRecorder()
			running, err := workload.Load{Table: table, Readers: 1}.Start(t.Context(), db, rec)
			if err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return running.Summary().Reads >= 3 })
			exec(t, cluster, c.spoil)
			until(t, func() bool { return running.Summary().Lost >= 1 })
			exec(t, cluster, c.mend)
			if _, err := running.Stop(); err != nil {
				t.Fatal(err)
			}
			record := &history.Record{Ops: rec.Ops(), Exit: history.Exit{Outcome: "completed"}}
			if j := check.Judge(record); !j.Has(c.kind) {
				t.Errorf("got %+v, want %s", j.Anomalies(), c.kind)
			}
			if n := len(rec.Ops()); n > 10 {
				t.Errorf("got %d operations, want a series as one", n)
			}
		})
	}
}

func TestLoadValidate(t *testing.T) {
	table := fixtures.Pair()
	for field, l := range map[string]workload.Load{
		"Writers": {Table: table, Writers: -1},
		"Readers": {Table: table, Readers: 1000},
		"Rate":    {Table: table, Rate: -1},
		"Mix":     {Table: table, Mix: workload.Mix{Insert: -1}},
		"Table":   {Writers: 1},
	} {
		t.Run("Err "+field, func(t *testing.T) {
			if err := l.Validate(); err == nil || !strings.Contains(err.Error(), "Load."+field) {
				t.Errorf("got %v, want an error that names %s", err, field)
			}
		})
	}
	t.Run("OK", func(t *testing.T) {
		if err := (workload.Load{}).Validate(); err != nil {
			t.Error(err)
		}
	})
}

// begin reads what the record holds of the table before the run.
func begin(t *testing.T, c *topology.Cluster, l workload.Load) *history.Record {
	t.Helper()
	ref := observe.TableRef{Schema: topology.Database, Name: l.Table.Name}
	rows, err := observe.Rows(t.Context(), c.Source().DB, ref, l.Keys())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(l.Keys()) {
		t.Fatalf("got %d rows of %d keys", len(rows), len(l.Keys()))
	}
	r := &history.Record{Table: history.Table{Schema: ref.Schema, Name: ref.Name, Key: l.Table.Key, Rows: l.Table.Rows}}
	for _, row := range rows {
		r.Table.Initial = append(r.Table.Initial, row)
	}
	return r
}

func judge(t *testing.T, c *topology.Cluster, r *history.Record, rec *history.Recorder) {
	t.Helper()
	r.Ops = rec.Ops()
	var err error
	r.Observed.Final, err = observe.Rows(t.Context(), c.Source().DB, observe.TableRef{Schema: r.Table.Schema, Name: r.Table.Name}, observe.TouchedKeys(r.Ops))
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []func(*history.Record) check.Result{check.AcknowledgedWrites, check.NeverMissing, check.CutoverWhole, check.ObservedInFull} {
		if result := check(r); result.Verdict != "Valid" {
			t.Errorf("got %+v of %d operations, want Valid", result, len(r.Ops))
		}
	}
}

// kinds checks that a load does every kind of write that it can.
func kinds(t *testing.T, ops []history.Op, counters bool) {
	t.Helper()
	seen := map[string]int{}
	for _, op := range ops {
		seen[op.Kind]++
		for _, c := range op.Changes {
			if len(c.Add) > 0 {
				seen["add"]++
			}
		}
	}
	want := []string{"insert", "update", "delete", "move", "transaction", "read"}
	if counters {
		want = append(want, "add")
	}
	for _, kind := range want {
		if seen[kind] == 0 {
			t.Errorf("got %v, want every kind", seen)
		}
	}
}

func exec(t *testing.T, c *topology.Cluster, statement string) {
	t.Helper()
	conn, err := c.Source().DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, s := range []string{"USE " + topology.Database, statement} {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", s, err))
		}
	}
}

// until waits for a condition that nothing can announce.
func until(t *testing.T, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("waited for 20 s in vain")
		}
	}
}

// A reader must see a table whose key is no single integer.
func TestReaderOfAnyKey(t *testing.T) {
	for _, table := range []fixtures.Table{
		fixtures.MustCreate("CREATE TABLE named (name VARCHAR(20) PRIMARY KEY, v INT)", "INSERT INTO named VALUES ('it''s', 1), ('b', 2)"),
		fixtures.MustCreate("CREATE TABLE two (a INT, b INT, v INT, PRIMARY KEY (a, b))", "INSERT INTO two VALUES (1, 1, 1)"),
	} {
		t.Run("OK "+table.Name, func(t *testing.T) {
			_, db := start(t, topology.Spec{GTID: true}, table)
			load := workload.Load{Table: table, Readers: 1}
			running, err := load.Start(t.Context(), db, history.NewRecorder())
			if err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return running.Summary().Reads >= 20 })
			if summary, err := running.Stop(); err != nil || summary.Lost > 0 {
				t.Errorf("got %+v, %v, want no lost read", summary, err)
			}
			load.Writers = 1
			if err := load.Validate(); err == nil {
				t.Error("writers on this table: got no error")
			}
		})
	}
}
