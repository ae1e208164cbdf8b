package main

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"rowproof/fixtures"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// loaded is a migration under load, and what the checkers want to know of it:
// note how things stand, write, migrate, stop to write, judge.
type loaded struct {
	bench     *bench
	table     fixtures.Table
	load      workload.Load
	record    history.Record
	inventory observe.Inventory
	from      observe.Position
	before    observe.Definition
}

func (l *loaded) ref() observe.TableRef {
	return observe.TableRef{Schema: topology.Database, Name: l.table.Name}
}

func (l *loaded) old() observe.TableRef {
	return observe.TableRef{Schema: topology.Database, Name: "_" + l.table.Name + "_old"}
}

// note begins the record with how things stand.
func (l *loaded) note(t *testing.T, ctx context.Context, scenario string) {
	t.Helper()
	db := l.bench.server.DB
	l.bench.table = l.table.Name
	l.record = history.Record{
		Scenario: scenario, Subject: "osc", Verify: true, Expect: subject.Completed,
		Table: history.Table{Schema: topology.Database, Name: l.table.Name, Key: l.table.Key, Alter: l.bench.alter, Rows: l.table.Rows},
	}
	found, err := observe.Rows(ctx, db, l.ref(), l.load.Keys())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found {
		l.record.Table.Initial = append(l.record.Table.Initial, row)
	}
	if l.inventory, err = observe.TakeInventory(ctx, db, topology.Migrator().User); err != nil {
		t.Fatal(err)
	}
	if l.before, err = observe.Describe(ctx, db, l.ref()); err != nil {
		t.Fatal(err)
	}
	if l.from, err = observe.BinlogEnd(ctx, db); err != nil {
		t.Fatal(err)
	}
}

// write starts the load; the function that it returns ends it.
func (l *loaded) write(t *testing.T, ctx context.Context) (stop func()) {
	t.Helper()
	config := l.bench.server.Config(topology.App(), topology.Database)
	app, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	recorder := history.NewRecorder()
	l.record.Started = recorder.Started()
	running, err := l.load.Start(ctx, app, recorder)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := running.Stop(); err != nil {
			t.Error(err)
		}
		l.record.Ops = recorder.Ops()
		_ = app.Close()
	}
}

// judge observes what the runs left, and asks all checkers. It reports what
// they find, and whether all is Valid.
func (l *loaded) judge(t *testing.T, ctx context.Context) bool {
	t.Helper()
	db, o := l.bench.server.DB, &l.record.Observed
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	after, err := observe.Describe(ctx, db, l.ref())
	must(err)
	o.Binlog, err = observe.Binlog(ctx, db, observe.BinlogSource{
		Server: l.bench.server.Config(topology.Replicator(), ""), From: l.from,
		Schema: topology.Database, Table: l.table.Name, Before: l.before, After: after,
	})
	must(err)
	o.Final, err = observe.Rows(ctx, db, l.ref(), observe.TouchedKeys(l.record.Ops))
	must(err)
	o.LeftBehind, err = observe.Leftovers(ctx, db, l.inventory, observe.Allowed{User: topology.Migrator().User, Tables: []observe.TableRef{l.old()}})
	must(err)
	oracle, err := observe.Oracle(ctx, db, l.old(), l.bench.alter)
	must(err)
	defer func() { must(observe.DropOracle(ctx, db, oracle)) }()
	want, got := observe.Side{DB: db, Table: oracle}, observe.Side{DB: db, Table: l.ref()}
	o.Comparison, err = observe.Compare(ctx, want, got, observe.Options{Exclude: l.afterSwap(o.Binlog)})
	must(err)
	o.Comparison.Against = "the old table, taken through MySQL's own ALTER"
	o.Schema, err = observe.Schema(ctx, want, got)
	must(err)
	judgement := check.Judge(&l.record)
	for _, a := range judgement.Anomalies() {
		t.Errorf("%s: %s", a.Kind, a.Text)
	}
	if judgement.Verdict != check.Valid {
		t.Errorf("%s: %v", judgement.Verdict, judgement.Reasons())
	}
	return judgement.Verdict == check.Valid
}

// afterSwap are the keys that were written once the new table was live: the
// old table knows nothing of that, and the ledger judges it.
func (l *loaded) afterSwap(binlog []history.BinlogRow) []history.Key {
	var since []history.Key
	swapped := false
	for _, e := range binlog {
		switch {
		case e.Kind == "ddl":
			swapped = swapped || slices.ContainsFunc(check.Renames(e.SQL), func(r check.Rename) bool {
				return strings.HasSuffix(r.To, "_old")
			})
		case swapped && e.Table == l.table.Name:
			since = append(since, e.Key)
			if e.NewKey != "" {
				since = append(since, e.NewKey)
			}
		}
	}
	return since
}
