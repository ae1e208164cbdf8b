package main

import (
	"context"
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
	"rowproof/harness/history"
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
	b.alter = "MODIFY balance BIGINT NULL DEFAULT 0, ADD COLUMN note VARCHAR(20) NULL, ADD KEY by_owner (owner)"
	valid := 0
	for n := range kills {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			k := &killing{loaded: loaded{bench: b, table: table}, rng: rand.New(rand.NewPCG(uint64(seed), uint64(n)))}
			var story string
			for k.kills == 0 { // the moment that was drawn may never come
				k.prepare(t, ctx)
				story = k.migrate(t, ctx)
			}
			if k.judge(t, ctx) {
				valid++
				t.Log(story)
				return
			}
			t.Errorf("%s; repeat with ROWPROOF_SEED=%d", story, seed)
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
	loaded
	rng   *rand.Rand
	kills int
}

func (k *killing) prepare(t *testing.T, ctx context.Context) {
	t.Helper()
	db := k.bench.server.DB
	execute(t, db, "DROP DATABASE IF EXISTS "+topology.Database, "CREATE DATABASE "+topology.Database)
	if err := k.table.Load(ctx, db, topology.Database); err != nil {
		t.Fatal(err)
	}
	k.load = workload.Load{Table: k.table, Writers: 4, Readers: 1, Rate: 1000, Seed: k.rng.Uint64()}
	k.note(t, ctx, "killed at random")
}

// migrate kills osc once, and now and then the run that resumes it too, and
// tells what it did.
func (k *killing) migrate(t *testing.T, ctx context.Context) (story string) {
	t.Helper()
	defer k.write(t, ctx)()

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
