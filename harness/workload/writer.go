package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// writer issues one random write after the other, on keys that no other
// client writes, and on the shared counters.
type writer struct {
	load    Load
	plan    plan
	client  *Client
	rng     *rand.Rand
	live    []int64 // owned keys whose row is there, as far as the writer knows
	next    int64   // the next key that was never used
	counter int     // operations so far, to make every value unlike any other
	index   int
}

func newWriter(l Load, p plan, index int, c *Client) *writer {
	return &writer{
		load: l, plan: p, client: c, index: index,
		rng:  rand.New(rand.NewPCG(l.Seed, uint64(index)+1)),
		live: append([]int64(nil), p.owned[index]...),
		next: p.firstNew + int64(index),
	}
}

func (w *writer) run(ctx context.Context, r *Running) (err error) {
	defer func() { err = errors.Join(err, w.client.Close()) }()
	tick, stop := w.load.pace()
	defer stop()
	retry := time.NewTicker(reconnectEvery)
	defer retry.Stop()
	for {
		if tick != nil {
			select {
			case <-tick:
			case <-r.stop:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
		select {
		case <-r.stop:
			return nil
		case <-ctx.Done():
			return nil
		default:
		}
		if w.client.connect(ctx) != nil { // the server is away: ask again
			select {
			case <-retry.C:
			case <-r.stop:
				return nil
			case <-ctx.Done():
				return nil
			}
			continue
		}
		if err := w.step(ctx, r); err != nil {
			return err
		}
	}
}

// step issues one operation and keeps book of the keys.
func (w *writer) step(ctx context.Context, r *Running) error {
	a := w.draw()
	outcome, err := w.client.issue(ctx, w.client.rec.Begin(w.client.op(a.writes)), a.writes)
	r.count.writes.Add(1)
	var refused *mysql.MySQLError
	switch outcome {
	case history.OK:
		r.count.ok.Add(1)
		w.live = append(removed(w.live, a.gone), a.come...)
	case history.Failed:
		r.count.failed.Add(1)
		if errors.As(err, &refused) && isMistake(refused.Number) {
			return fmt.Errorf("write %q: %w", a.writes[0].SQL, err)
		}
	default:
		// The rows may or may not be there. Keys that came or went are left
		// alone from now on: a later write to them would tell us nothing.
		r.count.unknown.Add(1)
		w.live = removed(w.live, a.gone)
	}
	return nil
}

// isMistake reports errors that mean the load does not fit the table: syntax,
// unknown column, no default, no permission. Going on would write nothing.
func isMistake(code uint16) bool {
	switch code {
	case 1064, 1054, 1364, 1142, 1046:
		return true
	}
	return false
}

// action is an operation, and the keys that come and go if it succeeds.
type action struct {
	writes     []Write
	gone, come []int64
}

func (w *writer) draw() action {
	w.counter++
	m := w.load.Mix
	n := w.rng.IntN(m.total())
	for _, kind := range []struct {
		weight int
		make   func() (action, bool)
	}{
		{m.Insert, w.insert}, {m.Update, w.update}, {m.Delete, w.remove}, {m.Move, w.move}, {m.Transaction, w.transaction}, {m.Add, w.add},
	} {
		if n < kind.weight {
			if a, ok := kind.make(); ok {
				return a
			}
			break
		}
		n -= kind.weight
	}
	a, _ := w.insert() // no row to do anything else to
	return a
}

func (w *writer) insert() (action, bool) {
	id := w.fresh()
	row := w.values(true)
	row[w.load.Table.Key[0]] = history.Text(strconv.FormatInt(id, 10))
	return action{writes: []Write{Insert(w.load.Table, row)}, come: []int64{id}}, true
}

func (w *writer) update() (action, bool) {
	id, ok := w.pick()
	if !ok {
		return action{}, false
	}
	return action{writes: []Write{Update(w.load.Table, key(id), w.values(false))}}, true
}

func (w *writer) remove() (action, bool) {
	id, ok := w.pick()
	if !ok {
		return action{}, false
	}
	return action{writes: []Write{Delete(w.load.Table, key(id))}, gone: []int64{id}}, true
}

func (w *writer) move() (action, bool) {
	id, ok := w.pick()
	if !ok {
		return action{}, false
	}
	to := w.fresh()
	return action{writes: []Write{Move(w.load.Table, key(id), key(to))}, gone: []int64{id}, come: []int64{to}}, true
}

func (w *writer) add() (action, bool) {
	if len(w.plan.counters) == 0 {
		return action{}, false
	}
	at := w.plan.counters[w.rng.IntN(len(w.plan.counters))]
	return action{writes: []Write{Add(w.load.Table, at, w.plan.counter, 1+w.rng.Int64N(9))}}, true
}

// transaction changes two to four rows of this writer, each another one, and
// sometimes a counter with them.
func (w *writer) transaction() (action, bool) {
	var all action
	used := map[int64]bool{}
	for range 2 + w.rng.IntN(3) {
		var a action
		switch id, ok := w.pick(); {
		case !ok || used[id] || w.rng.IntN(4) == 0:
			a, _ = w.insert()
		case w.rng.IntN(3) == 0:
			used[id] = true
			a = action{writes: []Write{Delete(w.load.Table, key(id))}, gone: []int64{id}}
		default:
			used[id] = true
			a = action{writes: []Write{Update(w.load.Table, key(id), w.values(false))}}
		}
		all.writes = append(all.writes, a.writes...)
		all.gone = append(all.gone, a.gone...)
		all.come = append(all.come, a.come...)
	}
	if a, ok := w.add(); ok && w.rng.IntN(2) == 0 {
		// Last, so that the counter's lock is held only to the commit.
		all.writes = append(all.writes, a.writes...)
	}
	return all, true
}

func (w *writer) pick() (int64, bool) {
	if len(w.live) == 0 {
		return 0, false
	}
	return w.live[w.rng.IntN(len(w.live))], true
}

func (w *writer) fresh() int64 {
	for slices.Contains(w.load.Leave, key(w.next)) {
		w.next += int64(w.load.Writers)
	}
	id := w.next
	w.next += int64(w.load.Writers)
	return id
}

// values returns new values for all columns, or for some of them. Texts name
// the writer and the operation, so a stale row shows where it is from.
func (w *writer) values(all bool) history.Row {
	row := history.Row{}
	first := w.rng.IntN(len(w.load.Table.Columns))
	for i, c := range w.load.Table.Columns {
		n := w.rng.IntN(1_000_000)
		if !all && i != first && n%2 == 0 {
			continue
		}
		switch c.Kind {
		case fixtures.Integer:
			row[c.Name] = history.Text(strconv.Itoa(n))
			continue
		case fixtures.Choice:
			row[c.Name] = c.Values[n/2%len(c.Values)]
			continue
		}
		text := fmt.Sprintf("w%d op %d %s", w.index+1, w.counter, strings.Repeat("x", n%16))
		row[c.Name] = history.Text(strings.TrimRight(text[:min(len(text), c.Length)], " "))
	}
	return row
}

func removed(from []int64, gone []int64) []int64 {
	return slices.DeleteFunc(from, func(id int64) bool { return slices.Contains(gone, id) })
}
