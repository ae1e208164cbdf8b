// Package workload writes and reads the migrated table while it is migrated,
// and keeps the ledger of what it did.
//
// Read Client first: the client that issues an operation also records it, so
// the ledger never says more than a client can know. Load runs many of them:
// its writers (writer.go) own disjoint keys and share a few counter rows, its
// readers (reader.go) look for a table that is missing or torn. Open (open.go)
// is a transaction that somebody else ends. Insert, Update, UpdateAll, Add,
// Delete and Move (write.go) make single writes for faults, and Statement
// (statement.go) makes one of SQL. NewRandom (random.go) draws a load, and a table
// and an ALTER for it, from a seed.
package workload

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// Load is a steady stream of writes and reads.
type Load struct {
	Table   fixtures.Table
	Writers int    // 0: no writes
	Readers int    // 0: no reads
	Rate    int    // operations per second of all writers together; 0: as fast as they can
	Seed    uint64 // decides every operation of every writer
	Mix     Mix    // the zero value is DefaultMix

	// First is the lowest key that a new row gets; 0: one above all that are
	// seeded.
	First int64

	// Leave are rows that somebody else writes: the load neither writes nor
	// watches them.
	Leave []history.Key
}

// Mix is how often a writer does what, as weights.
type Mix struct {
	Insert, Update, Delete, Move, Transaction, Add int
}

// DefaultMix has every kind of write.
func DefaultMix() Mix {
	return Mix{Insert: 20, Update: 35, Delete: 10, Move: 10, Transaction: 15, Add: 10}
}

func (m Mix) total() int {
	return m.Insert + m.Update + m.Delete + m.Move + m.Transaction + m.Add
}

const (
	// counters is the number of rows that all writers add to.
	counters = 4
	// perWriter is the number of initial rows that each writer owns at most.
	// A bound keeps the ledger's initial rows readable on a huge table.
	perWriter = 250
	// mostWriters keeps the arithmetic of keys and the server's connections
	// within reason.
	mostWriters = 64
)

// Validate names the field that can't be.
func (l Load) Validate() error {
	switch {
	case l.Writers < 0 || l.Writers > mostWriters:
		return fmt.Errorf("Load.Writers is %d, want 0 to %d", l.Writers, mostWriters)
	case l.Readers < 0 || l.Readers > mostWriters:
		return fmt.Errorf("Load.Readers is %d, want 0 to %d", l.Readers, mostWriters)
	case l.Rate < 0:
		return fmt.Errorf("Load.Rate is %d, want 0 or more", l.Rate)
	case l.Mix.Insert < 0 || l.Mix.Update < 0 || l.Mix.Delete < 0 || l.Mix.Move < 0 || l.Mix.Transaction < 0 || l.Mix.Add < 0:
		return fmt.Errorf("Load.Mix has a negative weight: %+v", l.Mix)
	case l.Writers > 0:
		if err := l.Table.Writable(); err != nil {
			return fmt.Errorf("Load.Writers on Load.Table: %w", err)
		}
	}
	return nil
}

// Keys returns the keys of the seeded rows that the load may touch or watch.
// The record's initial rows must hold them.
func (l Load) Keys() []history.Key {
	p := newPlan(l)
	all := append([]history.Key(nil), p.counters...)
	if p.witness != "" {
		all = append(all, p.witness)
	}
	for _, owned := range p.owned {
		for _, id := range owned {
			all = append(all, key(id))
		}
	}
	return all
}

// plan deals the seeded rows out: one witness that nobody writes, a few
// counters that everybody adds to, and the rest to the writers.
type plan struct {
	witness  history.Key // "" on a table without rows
	counters []history.Key
	counter  string // the column they add to, "" if the table has none
	owned    [][]int64
	firstNew int64 // keys from here on are free; writer w takes every Writers-th
}

func newPlan(l Load) plan {
	p := plan{owned: make([][]int64, l.Writers), firstNew: l.Table.Rows + 1}
	rows := l.Table.Rows
	if len(l.Table.Key) != 1 {
		return p // a reader still sees whether the table is there
	}
	for _, c := range l.Table.Columns {
		if c.Kind == fixtures.Integer && p.counter == "" {
			p.counter = c.Name
		}
	}
	if rows == 0 {
		return p
	}
	at := func(n int64) history.Key { return history.Key(l.Table.KeyAt(n)) }
	next := int64(1)
	take := func() history.Key { // the next row that is the load's; "" after the last
		for ; next <= rows; next++ {
			if !slices.Contains(l.Leave, at(next)) {
				next++
				return at(next - 1)
			}
		}
		return ""
	}
	p.witness = take()
	if p.counter != "" {
		for len(p.counters) < counters {
			k := take()
			if k == "" {
				break
			}
			p.counters = append(p.counters, k)
		}
	}
	if l.Writers == 0 {
		return p
	}
	for _, k := range l.Table.Keys {
		p.firstNew = max(p.firstNew, number(history.Key(k))+1)
	}
	if l.First != 0 {
		p.firstNew = l.First
	}
	// Spread over the whole table, so that writes fall before, into and
	// behind what is being copied.
	left := rows - next + 1
	n := min(left, int64(l.Writers*perWriter))
	for i := range n {
		w := int(i) % l.Writers
		if k := at(next + i*left/n); !slices.Contains(l.Leave, k) {
			p.owned[w] = append(p.owned[w], number(k))
		}
	}
	return p
}

func key(id int64) history.Key { return history.Key(strconv.FormatInt(id, 10)) }

// number is the key of a table that writers can write: Validate has seen to
// it that it is an integer.
func number(k history.Key) int64 {
	n, _ := strconv.ParseInt(string(k), 10, 64)
	return n
}

// Summary counts what a load did.
type Summary struct {
	Writes  int64 // operations, whatever their outcome
	OK      int64
	Failed  int64
	Unknown int64
	Reads   int64
	Lost    int64 // reads that were refused, or found no row or an older state
}

// Running is a load under way.
type Running struct {
	stop  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup
	count counts
	mu    sync.Mutex
	errs  []error
}

type counts struct{ writes, ok, failed, unknown, reads, lost atomic.Int64 }

// Start starts the load. db must name the table's database. Every writer and
// reader takes a connection of its own, and asks for a new one for as long as
// it takes if that is lost. Cancelling ctx cuts operations short, whose
// outcome is then Unknown; Stop lets them end.
func (l Load) Start(ctx context.Context, db *sql.DB, rec *history.Recorder) (*Running, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("start load: %w", err)
	}
	if l.Mix.total() == 0 {
		l.Mix = DefaultMix()
	}
	p := newPlan(l)
	r := &Running{stop: make(chan struct{})}
	for i := range l.Writers {
		w := newWriter(l, p, i, NewClient(fmt.Sprintf("writer-%d", i+1), db, rec))
		r.wg.Go(func() { r.note(w.run(ctx, r)) })
	}
	for i := range l.Readers {
		rd := &reader{name: fmt.Sprintf("reader-%d", i+1), db: db, rec: rec, table: l.Table, plan: p}
		r.wg.Go(func() { r.note(rd.run(ctx, r)) })
	}
	return r, nil
}

// Stop lets every operation under way end and waits for that. The error says
// which client could not go on before Stop was called.
func (r *Running) Stop() (Summary, error) {
	r.once.Do(func() { close(r.stop) })
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Summary(), errors.Join(r.errs...)
}

// Summary counts what the load did so far.
func (r *Running) Summary() Summary {
	return Summary{
		Writes: r.count.writes.Load(), OK: r.count.ok.Load(), Failed: r.count.failed.Load(), Unknown: r.count.unknown.Load(),
		Reads: r.count.reads.Load(), Lost: r.count.lost.Load(),
	}
}

func (r *Running) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// pace returns the channel to wait on between two operations, nil for none.
func (l Load) pace() (<-chan time.Time, func()) {
	if l.Rate == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(time.Second * time.Duration(l.Writers) / time.Duration(l.Rate))
	return t.C, t.Stop
}

// reconnectEvery is how often a client asks for a new connection while the
// server does not answer.
const reconnectEvery = 20 * time.Millisecond
