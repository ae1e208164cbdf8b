package check

import (
	"maps"
	"math/bits"
	"slices"

	"rowproof/harness/history"
)

// search walks through the writes of one component in real time and keeps
// every state that some order of them could have led to.
//
// A write may take effect at any moment between its invocation and its end.
// So nothing needs deciding before a write ends: then it must have happened,
// perhaps after other open writes that touch its rows. Open writes that touch
// none of its rows can be put off, which is what keeps the search small.
type search struct {
	part   component
	base   map[history.Key]history.Row // the rows on which all worlds agree
	worlds []world
	open   [64]*write
	free   uint64 // slots of open that are unused
	slotOf map[*write]int

	impossible []*write // acknowledged, though no order allows it
	gaveUp     bool
}

// mostWorlds bounds the search; beyond it the checker says that it can't tell.
const mostWorlds = 1 << 14

func newSearch(part component, initial map[history.Key]history.Row) *search {
	s := &search{
		part: part, base: map[history.Key]history.Row{}, free: ^uint64(0), slotOf: map[*write]int{},
		worlds: []world{{rows: map[history.Key]history.Row{}}},
	}
	for _, k := range part.keys {
		if row := initial[k]; row != nil {
			s.base[k] = row
		}
	}
	return s
}

// run replays the component's writes in the order of their invocations and
// ends.
func (s *search) run() {
	type event struct {
		at  int64
		end bool
		w   *write
	}
	var events []event
	for _, w := range s.part.writes {
		events = append(events, event{int64(w.from), false, w})
		if w.until != forever {
			events = append(events, event{int64(w.until), true, w})
		}
	}
	// At the same instant an invocation comes first: the two overlap.
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at != b.at:
			return int(min(max(a.at-b.at, -1), 1))
		case a.end == b.end:
			return 0
		case b.end:
			return -1
		default:
			return 1
		}
	})
	for _, e := range events {
		if e.end {
			s.end(e.w)
		} else {
			s.begin(e.w)
		}
		if s.gaveUp {
			return
		}
	}
	s.settle()
}

func (s *search) begin(w *write) {
	if s.free == 0 {
		s.gaveUp = true
		return
	}
	slot := bits.TrailingZeros64(s.free)
	s.free &^= 1 << slot
	s.open[slot], s.slotOf[w] = w, slot
}

// end demands that w has happened in every world.
func (s *search) end(w *write) {
	bit := uint64(1) << s.slotOf[w]
	related := s.related(w)
	if related == bit && !s.differ(w) && !s.doneSomewhere(bit) {
		if !applyTo(plainRows(s.base), w) {
			s.impossible = append(s.impossible, w)
		}
	} else {
		s.fork(w, related)
	}
	for i := range s.worlds {
		s.worlds[i].done &^= bit
	}
	s.open[s.slotOf[w]] = nil
	s.free |= bit
}

// related returns the slots of w and of the open writes that touch its rows,
// or rows of those.
func (s *search) related(w *write) uint64 {
	set := uint64(1) << s.slotOf[w]
	keys := map[history.Key]bool{}
	addKeys(keys, w)
	for grown := true; grown; {
		grown = false
		for slot, other := range s.open {
			if other != nil && set&(1<<slot) == 0 && touches(keys, other) {
				set |= 1 << slot
				addKeys(keys, other)
				grown = true
			}
		}
	}
	return set
}

func addKeys(keys map[history.Key]bool, w *write) {
	for _, c := range w.changes {
		for _, k := range keysOf(c) {
			keys[k] = true
		}
	}
}

func touches(keys map[history.Key]bool, w *write) bool {
	for _, c := range w.changes {
		for _, k := range keysOf(c) {
			if keys[k] {
				return true
			}
		}
	}
	return false
}

// differ reports whether the worlds disagree on a row that w touches.
func (s *search) differ(w *write) bool {
	for _, v := range s.worlds {
		for _, c := range w.changes {
			for _, k := range keysOf(c) {
				if _, ok := v.rows[k]; ok {
					return true
				}
			}
		}
	}
	return false
}

func (s *search) doneSomewhere(bit uint64) bool {
	for _, v := range s.worlds {
		if v.done&bit != 0 {
			return true
		}
	}
	return false
}

// fork lets w happen in every world, before it any sequence of the related
// open writes.
func (s *search) fork(w *write, related uint64) {
	bit := uint64(1) << s.slotOf[w]
	reached := map[string]world{}
	seen := map[string]bool{}
	var visit func(v world)
	visit = func(v world) {
		if len(seen) > mostWorlds {
			s.gaveUp = true
			return
		}
		id := v.id()
		if seen[id] {
			return
		}
		seen[id] = true
		if v.done&bit != 0 {
			reached[id] = v
			return
		}
		for slot, other := range s.open {
			if other == nil || related&(1<<slot) == 0 || v.done&(1<<slot) != 0 {
				continue
			}
			if next, ok := s.after(v, other); ok {
				visit(next)
			}
		}
	}
	for _, v := range s.worlds {
		visit(v)
	}
	if len(reached) == 0 && !s.gaveUp {
		s.impossible = append(s.impossible, w)
		for _, v := range s.worlds {
			next, _ := s.after(v, w)
			reached[next.id()] = next
		}
	}
	s.keep(reached)
}

// settle lets every subset of the writes that are still open happen.
func (s *search) settle() {
	reached := map[string]world{}
	var visit func(v world)
	visit = func(v world) {
		if len(reached) > mostWorlds {
			s.gaveUp = true
			return
		}
		id := v.id()
		if _, ok := reached[id]; ok {
			return
		}
		reached[id] = v
		for slot, w := range s.open {
			if w == nil || v.done&(1<<slot) != 0 {
				continue
			}
			if next, ok := s.after(v, w); ok {
				visit(next)
			}
		}
	}
	for _, v := range s.worlds {
		visit(v)
	}
	s.keep(reached)
}

// keep makes the reached worlds the present ones, and moves rows on which
// they all agree to the base.
func (s *search) keep(reached map[string]world) {
	s.worlds = s.worlds[:0]
	for _, id := range slices.Sorted(maps.Keys(reached)) {
		s.worlds = append(s.worlds, reached[id])
	}
	if len(s.worlds) == 0 {
		return
	}
	for k, row := range s.worlds[0].rows {
		agreed := true
		for _, v := range s.worlds[1:] {
			other, ok := v.rows[k]
			agreed = agreed && ok && rowID(other) == rowID(row)
		}
		if agreed {
			s.base[k] = row
			for _, v := range s.worlds {
				delete(v.rows, k)
			}
		}
	}
}

// after returns the world in which w happens next, and whether it could.
func (s *search) after(v world, w *write) (world, bool) {
	next := world{done: v.done | 1<<s.slotOf[w], rows: maps.Clone(v.rows)}
	ok := applyTo(overlay{s.base, next.rows}, w)
	return next, ok
}

func applyTo(rows rowsView, w *write) bool {
	possible := true
	for _, c := range w.changes {
		possible = change(rows, c) && possible
	}
	return possible
}
