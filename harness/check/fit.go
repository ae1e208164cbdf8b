package check

import (
	"maps"
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
	best := -1
	var result fit
	for _, v := range s.worlds {
		rows := overlay{s.base, v.rows}
		bad := slices.Clone(always)
		for _, k := range slices.Sorted(maps.Keys(split)) {
			if wrong(k, rows.get(k)) {
				bad = append(bad, k)
			}
		}
		switch {
		case best < 0 || len(bad) < best:
			best = len(bad)
			result = fit{wrong: bad, want: map[history.Key]history.Row{}}
			for _, k := range bad {
				result.want[k] = rows.get(k)
			}
			result.happened = choice{s.adds(v)}
		case len(bad) == best:
			result.happened = append(result.happened, s.adds(v))
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
