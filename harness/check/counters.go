package check

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// choice is the sums that a group of writes of unknown outcome can have added
// to the counters; exactly one of them is true.
type choice []map[cell]int64

// counters judges the cells that clients only increment. Their sum does not
// depend on the order, but it must contain every acknowledged increment, and
// an unknown one only together with the rest of its transaction.
func (l *ledger) counters(choices []choice, final map[history.Key]history.Row, renames map[string]string) ([]Anomaly, []string) {
	if len(l.cells) == 0 {
		return nil, nil
	}
	cells := slices.SortedFunc(maps.Keys(l.cells), func(a, b cell) int {
		return strings.Compare(string(a.key)+"\x00"+a.column, string(b.key)+"\x00"+b.column)
	})
	sum := make([]int64, len(cells))
	index := map[cell]int{}
	var found []Anomaly
	for i, at := range cells {
		index[at] = i
		n, err := strconv.ParseInt(l.cells[at], 10, 64)
		if err != nil {
			return nil, []string{fmt.Sprintf("counter %s of row %s starts at %q, which is not a number", at.column, at.key, l.cells[at])}
		}
		sum[i] = n
	}
	for _, w := range l.writes {
		switch {
		case w.sure:
			for at, n := range w.adds {
				sum[index[at]] += n
			}
		case len(w.changes) == 0: // nothing but increments: free to have happened or not
			choices = append(choices, choice{nil, w.adds})
		}
	}
	sums, ok := reachable(sum, index, choices)
	if !ok {
		return nil, []string{"too many increments of unknown outcome to tell what the counters should hold"}
	}
	got := make([]int64, len(cells))
	for i, at := range cells {
		text := final[at.key][renamed(at.column, renames)]
		if text == nil {
			found = append(found, Anomaly{Kind: LostWrite, Key: at.key, Text: fmt.Sprintf("Row %s, whose column %s was incremented to %d, is missing or NULL.", at.key, at.column, sum[i])})
			continue
		}
		n, err := strconv.ParseInt(*text, 10, 64)
		if err != nil {
			return found, []string{fmt.Sprintf("counter %s of row %s ends at %q, which is not a number", at.column, at.key, *text)}
		}
		got[i] = n
	}
	if len(found) > 0 {
		return found, nil
	}
	if slices.ContainsFunc(sums, func(s []int64) bool { return slices.Equal(s, got) }) {
		return nil, nil
	}
	for i, at := range cells {
		if !slices.ContainsFunc(sums, func(s []int64) bool { return s[i] == got[i] }) {
			found = append(found, Anomaly{Kind: LostWrite, Key: at.key, Text: fmt.Sprintf(
				"Column %s of row %s should be %d after all acknowledged increments, and is %d.", at.column, at.key, sum[i], got[i])})
		}
	}
	if len(found) == 0 {
		found = append(found, Anomaly{Kind: LostWrite, Key: cells[0].key, Text: "Each counter could hold its value, but not all of them at once: a transaction took effect in part."})
	}
	return found, nil
}

// reachable returns every vector of sums that some outcome of the unknown
// writes gives, or false if there are too many.
func reachable(start []int64, index map[cell]int, choices []choice) ([][]int64, bool) {
	now := map[string][]int64{fmt.Sprint(start): start}
	for _, ch := range choices {
		next := map[string][]int64{}
		for _, sum := range now {
			for _, adds := range ch {
				s := slices.Clone(sum)
				for at, n := range adds {
					s[index[at]] += n
				}
				next[fmt.Sprint(s)] = s
			}
		}
		if len(next) > mostWorlds {
			return nil, false
		}
		if len(next) > 0 {
			now = next
		}
	}
	return slices.Collect(maps.Values(now)), true
}
