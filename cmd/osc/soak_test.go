package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/engine/mysql"
	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// One migration after the other, of two tables in turn that keep what the
// ones before have made of them, under a mixed load: each is Valid, and at the
// end nothing is left. ROWPROOF_SOAK is how long the load lasts in all;
// ROWPROOF_SEED is what it writes.
func TestSoak(t *testing.T) {
	total, rows := 15*time.Second, int64(3000)
	if text := os.Getenv("ROWPROOF_SOAK"); text != "" {
		var err error
		if total, err = time.ParseDuration(text); err != nil {
			t.Fatalf("ROWPROOF_SOAK: %v", err)
		}
		rows = 200_000
	}
	seed := number(t, "ROWPROOF_SEED", 1)
	b := newBench(t, topology.Spec{GTID: true, PerformanceSchema: true, DataMegabytes: 8 << 10})
	db := b.server.DB
	execute(t, db, "CREATE DATABASE "+topology.Database)
	soaked := []fixtures.Table{fixtures.Accounts(rows), fixtures.Codes(rows)}
	for _, table := range soaked {
		if err := table.Load(t.Context(), db, topology.Database); err != nil {
			t.Fatal(err)
		}
	}
	for n, m := range soaks {
		table := &soaked[n%len(soaked)]
		t.Run(fmt.Sprintf("%d %s", n+1, table.Name), func(t *testing.T) {
			b.alter = m.alter
			s := &soaking{
				loaded:   loaded{bench: b, table: *table},
				duration: total / time.Duration(len(soaks)), flags: m.flags, postpone: filepath.Join(t.TempDir(), "postpone"),
			}
			s.run(t, m.do, rand.New(rand.NewPCG(uint64(seed), uint64(n))))
			// What the next load inserts must not meet what this one did.
			err := db.QueryRow(fmt.Sprintf("SELECT MAX(CAST(%s AS SIGNED)) FROM %s.%s", table.Key[0], topology.Database, table.Name)).Scan(&table.Rows)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	var held string
	err := db.QueryRow("SELECT IFNULL(GROUP_CONCAT(OBJECT_TYPE, ' ', OBJECT_NAME, ' ', LOCK_TYPE), '') FROM performance_schema.metadata_locks" +
		" WHERE OBJECT_SCHEMA = '" + topology.Database + "' OR OBJECT_TYPE = 'USER LEVEL LOCK'").Scan(&held)
	if err != nil || held != "" {
		t.Errorf("metadata locks: got %q (%v), want none", held, err)
	}
	if got := tables(t, b.server); got != "accounts,codes" {
		t.Errorf("tables: got %s, want accounts and codes alone", got)
	}
}

// soaks are the migrations: of accounts and of codes in turn.
var soaks = []struct {
	alter string
	flags []string
	do    func(*soaking, *testing.T, context.Context)
}{
	{"ADD COLUMN note VARCHAR(20) NULL", nil, (*soaking).whole},
	{"ADD KEY by_title (title)", []string{"--defer-secondary-indexes"}, (*soaking).inside},
	{"MODIFY balance BIGINT NULL DEFAULT 0, ADD KEY by_owner (owner)", []string{"--gtid"}, (*soaking).killed},
	{"ADD COLUMN seen DATETIME NULL FIRST", nil, (*soaking).paused},
	{"DROP KEY by_owner, ADD KEY owner_balance (owner, balance), ADD KEY (balance)", []string{"--defer-secondary-indexes"}, (*soaking).whole},
	{"MODIFY title VARCHAR(100) CHARACTER SET latin1 NOT NULL", []string{"--gtid"}, (*soaking).inside},
	{"MODIFY id BIGINT NOT NULL", nil, (*soaking).whole},
	{"MODIFY code VARCHAR(40) NOT NULL, ADD COLUMN n INT NOT NULL DEFAULT 7", nil, (*soaking).aborted},
	{"DROP COLUMN note, ADD COLUMN twice BIGINT AS (balance * 2) STORED", nil, (*soaking).whole},
	{"DROP KEY by_title, ADD UNIQUE KEY code_title (code, title)", []string{"--gtid"}, (*soaking).inside},
}

// soaking is one of the migrations.
type soaking struct {
	loaded
	duration time.Duration
	flags    []string
	postpone string // the file that keeps osc from its cut-over
}

// run migrates in some way under load, for the duration, and judges.
func (s *soaking) run(t *testing.T, do func(*soaking, *testing.T, context.Context), rng *rand.Rand) {
	ctx, cancel := context.WithTimeout(t.Context(), s.duration+5*time.Minute)
	defer cancel()
	s.load = workload.Load{Table: s.table, Writers: 4, Readers: 1, Rate: 300, Seed: rng.Uint64(), Leave: visited}
	s.note(t, ctx, "soak")
	stop := s.write(t, ctx)
	visitor := visit(t, ctx, s.bench.server, s.table)
	s.flags = append([]string{"--postpone-cut-over-flag-file=" + s.postpone, "--checkpoint-seconds=0.1", "--nice-ratio=2", "--chunk-size=500"}, s.flags...)
	do(s, t, ctx)
	visitor.stop(t)
	stop()
	s.judge(t, ctx)
	visitor.check(t)
	t.Logf("%s: %d writes, %d long transactions", s.bench.alter, len(s.record.Ops), visitor.transactions)
	execute(t, s.bench.server.DB, "DROP TABLE "+s.old().Quoted())
}

// goOn lets so many tenths of the duration go by.
func (s *soaking) goOn(t *testing.T, ctx context.Context, tenths time.Duration) {
	t.Helper()
	if !mysql.Wait(ctx, s.duration*tenths/10) {
		t.Fatal(ctx.Err())
	}
}

// whole runs osc as a process.
func (s *soaking) whole(t *testing.T, ctx context.Context) {
	s.ends(t, ctx, s.bench.begin(t, ctx, s.bench.server.Addr, s.flags...), 10)
}

// ends lets osc swap the tables when so many tenths of the duration are over.
func (s *soaking) ends(t *testing.T, ctx context.Context, p subject.Running, tenths time.Duration) {
	t.Helper()
	s.goOn(t, ctx, tenths)
	remove(t, s.postpone)
	result, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if result.Exit.Outcome != subject.Completed {
		t.Fatalf("osc ended: %+v", result.Exit)
	}
	s.record.Exit = result.Exit
	t.Logf("osc took %d MB", result.PeakRSS>>20)
}

// killed kills osc and resumes it, twice.
func (s *soaking) killed(t *testing.T, ctx context.Context) {
	for _, flags := range [][]string{s.flags, append(s.flags, "--resume")} {
		p := s.bench.begin(t, ctx, s.bench.server.Addr, flags...)
		s.goOn(t, ctx, 3)
		end(t, ctx, p, syscall.SIGKILL)
	}
	s.ends(t, ctx, s.bench.begin(t, ctx, s.bench.server.Addr, append(s.flags, "--resume")...), 4)
}

// begin starts osc inside this process, whose goroutines are looked at when
// all tests are over.
func (s *soaking) begin(t *testing.T) *running {
	t.Helper()
	return begin(t, s.bench.server, append([]string{"--table=" + s.table.Name, "--alter=" + s.bench.alter}, s.flags...)...)
}

// inside runs osc inside this process.
func (s *soaking) inside(t *testing.T, ctx context.Context) {
	r := s.begin(t)
	s.goOn(t, ctx, 10)
	s.swaps(t, r)
}

func (s *soaking) swaps(t *testing.T, r *running) {
	t.Helper()
	if outcome, text := r.ctl(t, "cut-over"); outcome != engine.Completed {
		t.Fatalf("cut-over: %s", text)
	}
	r.ends(t, engine.Completed)
	if _, err := os.Stat(r.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	s.record.Exit = history.Exit{Outcome: subject.Completed}
}

// paused pauses the copy for a while.
func (s *soaking) paused(t *testing.T, ctx context.Context) {
	r := s.begin(t)
	r.until(t, "phase:     ")
	r.ctl(t, "pause")
	r.until(t, "paused by the operator")
	s.goOn(t, ctx, 3)
	r.ctl(t, "resume")
	s.goOn(t, ctx, 7)
	s.swaps(t, r)
}

// aborted aborts a run, and migrates in a second one.
func (s *soaking) aborted(t *testing.T, ctx context.Context) {
	r := s.begin(t)
	r.until(t, "phase:     ")
	s.goOn(t, ctx, 3)
	r.ctl(t, "abort")
	r.ends(t, engine.Aborted)
	r = s.begin(t)
	s.goOn(t, ctx, 7)
	s.swaps(t, r)
}
