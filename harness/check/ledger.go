package check

import (
	"maps"
	"math"
	"slices"
	"time"

	"rowproof/harness/history"
)

// write is one write operation as far as it is searched: its increments of
// counter cells are kept apart, because they commute.
type write struct {
	op      *history.Op
	changes []history.Change
	adds    map[cell]int64
	from    time.Duration // it took effect after this
	until   time.Duration // and before this
	sure    bool          // it did take effect
	look    bool          // it only tells what the rows were (look.go)
}

// cell is one column of one row.
type cell struct {
	key    history.Key
	column string
}

// forever is the end of a write whose reply was lost: the server may still be
// at work on it long after its client has given up.
const forever = time.Duration(math.MaxInt64)

// ledger is the writes of a record, prepared for the search.
type ledger struct {
	initial map[history.Key]history.Row // without the counter cells
	writes  []*write
	keys    []history.Key   // every key a write touches, refused writes included
	cells   map[cell]string // the counter cells and their first values
	last    map[history.Key]*write
}

func newLedger(r *history.Record) *ledger {
	l := &ledger{initial: initialRows(r), last: map[history.Key]*write{}}
	seen := map[history.Key]bool{}
	for i := range r.Ops {
		for _, c := range r.Ops[i].Changes {
			for _, k := range keysOf(c) {
				if !seen[k] {
					seen[k] = true
					l.keys = append(l.keys, k)
				}
			}
		}
		for _, k := range slices.Sorted(maps.Keys(r.Ops[i].Saw)) {
			if !seen[k] {
				seen[k] = true
				l.keys = append(l.keys, k)
			}
		}
	}
	l.cells = counterCells(r.Ops, l.initial)
	for at := range l.cells {
		row := maps.Clone(l.initial[at.key])
		delete(row, at.column)
		l.initial[at.key] = row
	}
	for _, op := range inOrder(r.Ops) {
		if op.Outcome == history.Failed {
			continue
		}
		l.writes = append(l.writes, l.newWrite(&op))
	}
	for _, w := range l.writes {
		for _, c := range w.op.Changes {
			for _, k := range keysOf(c) {
				if prev := l.last[k]; prev == nil || w.sure || !prev.sure {
					l.last[k] = w
				}
			}
		}
	}
	l.writes = append(l.writes, looks(r)...)
	return l
}

func (l *ledger) newWrite(op *history.Op) *write {
	w := &write{op: op, adds: map[cell]int64{}, from: op.Invoke, until: op.Return, sure: op.Outcome == history.OK}
	if !w.sure {
		w.until = forever
	}
	for _, c := range op.Changes {
		rest := map[string]int64{}
		for column, n := range c.Add {
			if _, ok := l.cells[cell{c.Key, column}]; ok {
				w.adds[cell{c.Key, column}] += n
			} else {
				rest[column] = n
			}
		}
		onlyAdds := c.Kind == history.Update && len(c.Set) == 0 && len(rest) == 0
		if !onlyAdds {
			c.Add = rest
			w.changes = append(w.changes, c)
		}
	}
	return w
}

// counterCells returns the cells that are only ever incremented, in rows that
// are never inserted, deleted or moved.
func counterCells(ops []history.Op, initial map[history.Key]history.Row) map[cell]string {
	cells := map[cell]string{}
	for _, op := range ops {
		for _, c := range op.Changes {
			for column := range c.Add {
				if first := initial[c.Key][column]; first != nil {
					cells[cell{c.Key, column}] = *first
				}
			}
		}
	}
	unsteady := map[history.Key]bool{}
	for _, op := range ops {
		for _, c := range op.Changes {
			if c.Kind != history.Update {
				for _, k := range keysOf(c) {
					unsteady[k] = true
				}
			}
			for column := range c.Set {
				delete(cells, cell{c.Key, column})
			}
		}
	}
	for at := range cells {
		if unsteady[at.key] {
			delete(cells, at)
		}
	}
	return cells
}

// component is a set of keys that no write connects with any other key, and
// the writes to them.
type component struct {
	keys   []history.Key
	writes []*write
}

// components splits the ledger along its writes. Each part can be searched
// alone, which keeps the search short: clients own most of their keys.
func (l *ledger) components() []component {
	parent := map[history.Key]history.Key{}
	var root func(k history.Key) history.Key
	root = func(k history.Key) history.Key {
		if p, ok := parent[k]; ok && p != k {
			parent[k] = root(p)
			return parent[k]
		}
		return k
	}
	for _, w := range l.writes {
		var first *history.Key
		for _, c := range w.changes {
			for _, k := range keysOf(c) {
				if first == nil {
					first = &k
				} else if a, b := root(*first), root(k); a != b {
					parent[b] = a
				}
			}
		}
	}
	index := map[history.Key]int{}
	var parts []component
	for _, k := range l.keys {
		at := root(k)
		i, ok := index[at]
		if !ok {
			i = len(parts)
			index[at] = i
			parts = append(parts, component{})
		}
		parts[i].keys = append(parts[i].keys, k)
	}
	for _, w := range l.writes {
		if len(w.changes) > 0 {
			i := index[root(w.changes[0].Key)]
			parts[i].writes = append(parts[i].writes, w)
		}
	}
	for _, p := range parts {
		slices.SortStableFunc(p.writes, func(a, b *write) int {
			return int(min(max(a.from-b.from, -1), 1))
		})
	}
	return parts
}
