package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Whichever statement of a migration under load it is that osc is killed at,
// before or after the server has run it, a resumed run ends with a table that
// all checkers find Valid. ROWPROOF_KILLS sets the number of kills, and
// ROWPROOF_SEED what else is random.
func TestKilledAtRandom(t *testing.T) {
	kills, seed := number(t, "ROWPROOF_KILLS", 8), number(t, "ROWPROOF_SEED", 1)
	b := newBench(t, topology.Spec{GTID: true})
	table := fixtures.Accounts(20_000)
	b.table, b.alter = table.Name, "MODIFY balance BIGINT NULL DEFAULT 0, ADD COLUMN note VARCHAR(20) NULL, ADD KEY by_owner (owner)"
	valid := 0
	for n := range kills {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			k := &killing{bench: b, table: table, rng: rand.New(rand.NewPCG(uint64(seed), uint64(n)))}
			var story string
			for k.kills == 0 { // the moment that was drawn may never come
				k.prepare(t, ctx)
				story = k.migrate(t, ctx)
			}
			judgement := k.judge(t, ctx)
			if judgement.Verdict == check.Valid {
				valid++
				t.Log(story)
				return
			}
			for _, a := range judgement.Anomalies() {
				t.Errorf("%s: %s", a.Kind, a.Text)
			}
			t.Errorf("%s: %v; %s; repeat with ROWPROOF_SEED=%d", judgement.Verdict, judgement.Reasons(), story, seed)
		})
	}
	t.Logf("Valid %d of %d", valid, kills)
}

func number(t *testing.T, variable string, fallback int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// killing is one migration that is killed.
type killing struct {
	bench     *bench
	table     fixtures.Table
	rng       *rand.Rand
	load      workload.Load
	record    history.Record
	inventory observe.Inventory
	from      observe.Position
	before    observe.Definition
	kills     int
}

func (k *killing) ref() observe.TableRef {
	return observe.TableRef{Schema: topology.Database, Name: k.table.Name}
}

func (k *killing) prepare(t *testing.T, ctx context.Context) {
	t.Helper()
	db := k.bench.server.DB
	execute(t, db, "DROP DATABASE IF EXISTS "+topology.Database, "CREATE DATABASE "+topology.Database)
	if err := k.table.Load(ctx, db, topology.Database); err != nil {
		t.Fatal(err)
	}
	k.load = workload.Load{Table: k.table, Writers: 4, Readers: 1, Rate: 1000, Seed: k.rng.Uint64()}
	k.record = history.Record{
		Scenario: "killed at random", Subject: "osc", Verify: true, Expect: subject.Completed,
		Table: history.Table{Schema: topology.Database, Name: k.table.Name, Key: k.table.Key, Alter: k.bench.alter, Rows: k.table.Rows},
	}
	found, err := observe.Rows(ctx, db, k.ref(), k.load.Keys())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range found {
		k.record.Table.Initial = append(k.record.Table.Initial, row)
	}
	if k.inventory, err = observe.TakeInventory(ctx, db, topology.Migrator().User); err != nil {
		t.Fatal(err)
	}
	if k.before, err = observe.Describe(ctx, db, k.ref()); err != nil {
		t.Fatal(err)
	}
	if k.from, err = observe.BinlogEnd(ctx, db); err != nil {
		t.Fatal(err)
	}
}

// migrate kills osc once, and now and then the run that resumes it too, and
// tells what it did.
func (k *killing) migrate(t *testing.T, ctx context.Context) (story string) {
	t.Helper()
	config := k.bench.server.Config(topology.App(), topology.Database)
	app, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	recorder := history.NewRecorder()
	k.record.Started = recorder.Started()
	running, err := k.load.Start(ctx, app, recorder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := running.Stop(); err != nil {
			t.Error(err)
		}
		k.record.Ops = recorder.Ops()
	}()

	flags := []string{"--chunk-size=200", "--checkpoint-seconds=0.05"}
	if k.rng.IntN(2) == 0 {
		flags = append(flags, "--gtid")
	}
	if k.rng.IntN(3) == 0 {
		flags = append(flags, "--defer-secondary-indexes")
	}
	story = strings.Join(flags, " ")
	again := flags
	for left := 1 + k.rng.IntN(2); ; {
		exit := k.attempt(t, ctx, left > 0, again, &story)
		k.record.Exit = exit
		switch {
		case exit.Outcome == subject.Killed:
			left--
			k.kills++
			again = append(slices.Clone(flags), "--resume")
		case exit.Outcome == subject.Refused && strings.Contains(exit.Message, "there is nothing to resume"):
			again = flags
		case exit.Outcome == subject.Refused && (strings.Contains(exit.Message, "that migration is done") ||
			strings.Contains(exit.Message, "the name that the old table is to have")): // only the old table is left
			k.record.Exit = history.Exit{Outcome: subject.Killed}
			k.record.Expect = subject.Killed
			execute(t, k.bench.server.DB, "DROP TABLE IF EXISTS "+topology.Database+"._"+k.table.Name+"_osc")
			return story
		case exit.Outcome != subject.Completed:
			t.Fatalf("osc ended: %s; %s", exit.Message, story)
		default:
			return story
		}
	}
}

// moment draws the statement to kill at: half of the time any, and half of
// the time one of a step that sends few.
func (k *killing) moment() wire.Rule {
	const statements = 900 // about as many as osc sends
	rare := []step.Step{checkpoint, step.Verify, step.Lock, step.Drain, step.Rename, step.Unlock, step.Cleanup, "index"}
	rule := wire.Rule{Phase: wire.Phase(k.rng.IntN(2)), Occurrence: 1 + k.rng.IntN(statements)}
	if k.rng.IntN(2) == 0 {
		rule.Step, rule.Occurrence = rare[k.rng.IntN(len(rare))], 1
	}
	return rule
}

// attempt runs osc once, and kills it at a random statement if asked to.
func (k *killing) attempt(t *testing.T, ctx context.Context, kill bool, flags []string, story *string) history.Exit {
	t.Helper()
	b := k.bench
	proxy, err := wire.Listen(ctx, wire.Config{Upstream: b.server.Addr, Phrasebook: b.subject.Phrasebook()})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	rule := k.moment()
	if !kill {
		rule.Action = wire.Observe
	}
	gate := proxy.Gate(rule)
	process := b.begin(t, ctx, proxy.Addr(), flags...)
	reached, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-process.Done():
			stop()
		case <-reached.Done():
		}
	}()
	hit, err := gate.Wait(reached)
	stop()
	<-ended
	if err == nil && kill {
		*story += fmt.Sprintf("; killed %s statement %d of %q, step %q", rule.Phase, rule.Occurrence, rule.Step, hit.Command.Step)
		end(t, ctx, process, syscall.SIGKILL)
	}
	result, err := process.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	*story += "; " + result.Exit.Outcome
	return result.Exit
}

// judge observes what the runs left, and asks all checkers.
func (k *killing) judge(t *testing.T, ctx context.Context) check.Judgement {
	t.Helper()
	db, o := k.bench.server.DB, &k.record.Observed
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	after, err := observe.Describe(ctx, db, k.ref())
	must(err)
	o.Binlog, err = observe.Binlog(ctx, db, observe.BinlogSource{
		Server: k.bench.server.Config(topology.Replicator(), ""), From: k.from,
		Schema: topology.Database, Table: k.table.Name, Before: k.before, After: after,
	})
	must(err)
	o.Final, err = observe.Rows(ctx, db, k.ref(), observe.TouchedKeys(k.record.Ops))
	must(err)
	old := observe.TableRef{Schema: topology.Database, Name: "_" + k.table.Name + "_old"}
	o.LeftBehind, err = observe.Leftovers(ctx, db, k.inventory, observe.Allowed{User: topology.Migrator().User, Tables: []observe.TableRef{old}})
	must(err)
	oracle, err := observe.Oracle(ctx, db, old, k.bench.alter)
	must(err)
	defer func() { must(observe.DropOracle(ctx, db, oracle)) }()
	want, got := observe.Side{DB: db, Table: oracle}, observe.Side{DB: db, Table: k.ref()}
	o.Comparison, err = observe.Compare(ctx, want, got, observe.Options{Exclude: k.afterSwap(o.Binlog)})
	must(err)
	o.Comparison.Against = "the old table, taken through MySQL's own ALTER"
	o.Schema, err = observe.Schema(ctx, want, got)
	must(err)
	return check.Judge(&k.record)
}

// afterSwap are the keys that were written once the new table was live: the
// old table knows nothing of that, and the ledger judges it.
func (k *killing) afterSwap(binlog []history.BinlogRow) []history.Key {
	var since []history.Key
	swapped := false
	for _, e := range binlog {
		switch {
		case e.Kind == "ddl":
			swapped = swapped || slices.ContainsFunc(check.Renames(e.SQL), func(r check.Rename) bool {
				return strings.HasSuffix(r.To, "_old")
			})
		case swapped && e.Table == k.table.Name:
			since = append(since, e.Key)
			if e.NewKey != "" {
				since = append(since, e.NewKey)
			}
		}
	}
	return since
}
