package check

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"rowproof/harness/history"
)

// Show renders a row as a sentence shows it: its columns in name order, with
// long values cut.
func Show(r history.Row) string {
	if r == nil {
		return "no row"
	}
	parts := make([]string, 0, len(r))
	for _, c := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, c+"="+value(r[c]))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// longest is how many characters of a value a sentence shows.
const longest = 60

func value(v *string) string {
	if v == nil {
		return "NULL"
	}
	s := *v
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest]) + "…"
	}
	return "'" + s + "'"
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// sameValue reports whether two texts are the same value as far as the text
// alone can tell. An ALTER may change how a value is written without changing
// it ('1' and '1.00', or a time with a longer fraction); whether its bytes are
// right is the business of SameAsAlter.
func sameValue(a, b *string) bool {
	if sameText(a, b) {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	x, okX := number(*a)
	y, okY := number(*b)
	if okX && okY {
		return x.Cmp(y) == 0
	}
	return isTime(*a) && isTime(*b) && trimFraction(*a) == trimFraction(*b)
}

// number reads a decimal number. Fractions of the form 1/3 are not MySQL's,
// and exponents could be made to need endless memory.
func number(s string) (*big.Rat, bool) {
	if len(s) > 100 || strings.ContainsAny(s, "/_xXbBoOpPeE") {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func isTime(s string) bool { return strings.Count(s, ":") == 2 }

func trimFraction(s string) string {
	whole, fraction, found := strings.Cut(s, ".")
	if fraction = strings.TrimRight(fraction, "0"); found && fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// sameRow reports whether the row got holds what want says, in the columns
// that both have; a nil row is an absent one. Columns of want are named as
// before the ALTER.
func sameRow(want, got history.Row, renames map[string]string) bool {
	if want == nil || got == nil {
		return (want == nil) == (got == nil)
	}
	for column, w := range want {
		if g, ok := got[renamed(column, renames)]; ok && !sameValue(w, g) {
			return false
		}
	}
	return true
}

func renamed(column string, renames map[string]string) string {
	if to, ok := renames[column]; ok {
		return to
	}
	return column
}

// states holds, for each key, the rows it held at some time.
type states struct {
	of      map[history.Key][]history.Row
	renames map[string]string
}

// earlierStates replays the ledger in the order in which operations returned.
// That is good enough to recognise an old state of a row; what the last state
// must be is judged by AcknowledgedWrites.
func earlierStates(r *history.Record) states {
	past := states{of: map[history.Key][]history.Row{}, renames: r.Table.Renames}
	now := initialRows(r)
	for k, row := range now {
		past.of[k] = append(past.of[k], row)
	}
	for _, op := range inOrder(r.Ops) {
		if op.Outcome == history.Failed {
			continue
		}
		for _, c := range op.Changes {
			applyChange(now, c)
			for _, k := range keysOf(c) {
				past.of[k] = append(past.of[k], now[k])
			}
		}
	}
	return past
}

// held reports whether the key once held the row got, and that this is not
// simply what it should hold.
func (s states) held(key history.Key, got, want history.Row) bool {
	for _, row := range s.of[key] {
		if row != nil && sameRow(row, got, s.renames) && !sameRow(row, want, s.renames) {
			return true
		}
	}
	return false
}

// initialRows returns the rows before the run by key.
func initialRows(r *history.Record) map[history.Key]history.Row {
	rows := make(map[history.Key]history.Row, len(r.Table.Initial))
	for _, row := range r.Table.Initial {
		rows[keyOf(row, r.Table.Key)] = row
	}
	return rows
}

func keyOf(row history.Row, columns []string) history.Key {
	parts := make([]string, len(columns))
	for i, c := range columns {
		if v := row[c]; v != nil {
			parts[i] = *v
		}
	}
	return history.Key(strings.Join(parts, ","))
}

// inOrder returns the writes in the order in which they ended; one that never
// ended comes last.
func inOrder(ops []history.Op) []history.Op {
	var writes []history.Op
	for _, op := range ops {
		if len(op.Changes) > 0 {
			writes = append(writes, op)
		}
	}
	slices.SortStableFunc(writes, func(a, b history.Op) int {
		switch {
		case a.Return == b.Return:
			return a.ID - b.ID
		case a.Return == 0:
			return 1
		case b.Return == 0:
			return -1
		case a.Return < b.Return:
			return -1
		default:
			return 1
		}
	})
	return writes
}

func keysOf(c history.Change) []history.Key {
	if c.Kind == history.Move {
		return []history.Key{c.Key, c.NewKey}
	}
	return []history.Key{c.Key}
}
