// Package rows shows a row of the migrated table in several states, column by
// column: before the run, as it was last written, as it should be and as it
// is. Where two texts look the same and are not, it shows their bytes.
package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rowproof/harness/history"
	"rowproof/reports"
)

// Table is one row in several states, column by column.
type Table struct {
	Key     history.Key
	States  []string // "before the run", "should be", "is"
	Columns []Column
	Count   int64 // how often the row stands in the final table, if more than once
}

// Column is one column of the row in all states.
type Column struct {
	Name   string
	Values []Value
	Differ bool
}

// Value is a value as a reader sees it.
type Value struct {
	Word  string // instead of a text: "NULL", "no such row", "not recorded", "empty"
	Text  string
	Whole string // the whole text, if Text is a part of it
	Note  string // which part
	Bytes []Part
}

// Part is some bytes as hex digits. Differ marks those that differ.
type Part struct {
	Hex    string
	Differ bool
}

const (
	longText  = 300     // characters of a value that are shown at once
	wholeText = 100_000 // characters that the page holds of one value
	hexAround = 16      // bytes shown on both sides of the first that differs
)

// state is a row at one time.
type state struct {
	name    string
	row     history.Row
	hex     map[string]string
	unknown bool // it was not recorded whether there was one
}

// New shows what is recorded of a row: before the run, as it was last
// written, as it should be and as it is.
func New(r *history.Record, key history.Key) Table {
	touched := touches(r, key)
	whole := int64(len(r.Table.Initial)) >= r.Table.Rows // of a large table only the rows that an operation touches are recorded
	states := []state{{name: "before the run", row: initial(r, key), unknown: !touched && !whole}}
	if op, c := lastWrite(r, key); op != nil && c.Kind != history.Delete {
		states = append(states, state{name: fmt.Sprintf("last write (operation %d)", op.ID), row: c.Set})
	}
	t := Table{Key: key}
	i := slices.IndexFunc(r.Observed.Comparison.Diffs, func(d history.RowDiff) bool { return d.Key == key })
	if i >= 0 {
		d := r.Observed.Comparison.Diffs[i]
		t.Count = d.Count
		states = append(states, compared(d)...)
	} else if r.Observed.Final != nil {
		states = append(states, state{name: "is", row: r.Observed.Final[key], unknown: !touched})
	}
	t.fill(r, states)
	return t
}

// Others shows up to most of the differing rows but one, which was shown
// already, and tells how many there are beyond those.
func Others(r *history.Record, but history.Key, most int) (tables []Table, hidden int) {
	for _, d := range r.Observed.Comparison.Diffs {
		if d.Key == but {
			continue
		}
		if len(tables) == most {
			hidden++
			continue
		}
		t := Table{Key: d.Key, Count: d.Count}
		t.fill(r, compared(d))
		tables = append(tables, t)
	}
	return tables, hidden
}

// compared is both sides of a difference: they were read from the tables.
func compared(d history.RowDiff) []state {
	return []state{{name: "should be", row: d.Want, hex: d.WantHex}, {name: "is", row: d.Got, hex: d.GotHex}}
}

// touches reports whether an operation wrote or read the row.
func touches(r *history.Record, key history.Key) bool {
	return slices.ContainsFunc(r.Ops, func(op history.Op) bool {
		_, saw := op.Saw[key]
		return saw || slices.ContainsFunc(op.Changes, func(c history.Change) bool { return c.Key == key || c.NewKey == key })
	})
}

func initial(r *history.Record, key history.Key) history.Row {
	for _, row := range r.Table.Initial {
		var parts []string
		for _, c := range r.Table.Key {
			if v := row[c]; v != nil {
				parts = append(parts, *v)
			}
		}
		if history.Key(strings.Join(parts, ",")) == key {
			return row
		}
	}
	return nil
}

// lastWrite is the last write to a row that was acknowledged.
func lastWrite(r *history.Record, key history.Key) (last *history.Op, change history.Change) {
	for i := range r.Ops {
		op := &r.Ops[i]
		if op.Outcome != history.OK || last != nil && op.Return < last.Return {
			continue
		}
		for _, c := range op.Changes {
			if c.Key == key || c.NewKey == key {
				last, change = op, c
			}
		}
	}
	return last, change
}

// fill sets the states and the columns, those that differ first.
func (t *Table) fill(r *history.Record, states []state) {
	renames := r.Table.Renames
	names := map[string]bool{}
	for i := range states {
		t.States = append(t.States, states[i].name)
		renamed := history.Row{}
		for c, v := range states[i].row {
			if to, ok := renames[c]; ok {
				c = to
			}
			renamed[c] = v
			names[c] = true
		}
		if states[i].row != nil {
			states[i].row = renamed
		}
	}
	differing := len(states) >= 2 && states[len(states)-2].name == "should be"
	for _, name := range slices.Sorted(maps.Keys(names)) {
		line := Column{Name: name}
		rest := states
		if n := len(states) - 2; differing && differ(states[n], states[n+1], name) {
			line.Differ = true
			rest = states[:n]
		}
		for _, s := range rest {
			line.Values = append(line.Values, newValue(s, name))
		}
		if line.Differ {
			n := len(states) - 2
			line.Values = append(line.Values, contrast(states[n], states[n+1], name)...)
		}
		t.Columns = append(t.Columns, line)
	}
	slices.SortStableFunc(t.Columns, func(a, b Column) int {
		return rank(a, r.Table.Key) - rank(b, r.Table.Key)
	})
}

// rank puts the key first, then what differs, then the rest.
func rank(c Column, key []string) int {
	switch {
	case slices.Contains(key, c.Name):
		return 0
	case c.Differ:
		return 1
	}
	return 2
}

func newValue(s state, column string) Value {
	switch {
	case s.row == nil && s.unknown:
		return Value{Word: "not recorded"}
	case s.row == nil:
		return Value{Word: "no such row"}
	}
	v, ok := s.row[column]
	switch {
	case !ok && strings.HasPrefix(s.name, "last write"):
		return Value{Word: "not written"}
	case !ok:
		return Value{Word: "no such column"}
	case v == nil:
		return Value{Word: "NULL"}
	case *v == "":
		return Value{Word: "empty"}
	}
	return part(*v, 0)
}

// part shows a value, or if it is long a part of it that holds the character
// at.
func part(v string, at int) Value {
	runes := []rune(v)
	if len(runes) <= longText {
		return Value{Text: reports.Printable(v)}
	}
	from := max(at-longText/4, 0)
	to := min(from+longText, len(runes))
	text := string(runes[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(runes) {
		text += "…"
	}
	s := Value{Text: reports.Printable(text), Note: fmt.Sprintf("characters %d to %d of %d", from+1, to, len(runes))}
	whole := runes
	if len(whole) > wholeText {
		whole = whole[:wholeText]
		s.Note += fmt.Sprintf("; the page holds the first %d, %s holds all", wholeText, history.ObservedFile)
	}
	s.Whole = reports.Printable(string(whole))
	return s
}
