package check

import (
	"maps"
	"math/bits"
	"slices"

	"rowproof/harness/history"
)

// fit is how well the final rows agree with the world they agree with best.
type fit struct {
	wrong    []history.Key // rows that contradict the ledger
	want     map[history.Key]history.Row
	happened choice
}

// fit compares the final rows with every world that the search reached.
func (s *search) fit(final map[history.Key]history.Row, renames map[string]string) fit {
	wrong := func(k history.Key, want history.Row) bool { return !sameRow(want, final[k], renames) }
	split := map[history.Key]bool{} // keys on which the worlds disagree
	for _, v := range s.worlds {
		for k := range v.rows {
			split[k] = true
		}
	}
	var always []history.Key
	for _, k := range s.part.keys {
		if !split[k] && wrong(k, s.base[k]) {
			always = append(always, k)
		}
	}
	best, most := -1, 0
	var result fit
	for _, v := range s.worlds {
		rows := overlay{s.base, v.rows}
		bad := slices.Clone(always)
		for _, k := range slices.Sorted(maps.Keys(split)) {
			if wrong(k, rows.get(k)) {
				bad = append(bad, k)
			}
		}
		if best >= 0 && len(bad) > best {
			continue
		}
		if len(bad) != best {
			best, most = len(bad), -1
			result.happened = nil
		}
		if adds := s.adds(v); !slices.ContainsFunc(result.happened, func(a map[cell]int64) bool { return maps.Equal(a, adds) }) {
			result.happened = append(result.happened, adds)
		}
		// Of two worlds that fit equally badly, the one in which more happened
		// makes the better report: it names what is missing.
		if happened := bits.OnesCount64(v.done); happened > most {
			most = happened
			result.wrong, result.want = bad, map[history.Key]history.Row{}
			for _, k := range bad {
				result.want[k] = rows.get(k)
			}
		}
	}
	return result
}

// adds returns what the writes of unknown outcome add to counters in v.
func (s *search) adds(v world) map[cell]int64 {
	sum := map[cell]int64{}
	for slot, w := range s.open {
		if w != nil && !w.sure && v.done&(1<<slot) != 0 {
			for at, n := range w.adds {
				sum[at] += n
			}
		}
	}
	return sum
}
