package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// world is one possible state: which open writes have taken effect in it,
// and the rows in which it differs from the base.
type world struct {
	done uint64
	rows map[history.Key]history.Row
}

// overlay is the rows of a world on top of the base.
type overlay struct{ base, top map[history.Key]history.Row }

func (o overlay) get(k history.Key) history.Row {
	if row, ok := o.top[k]; ok {
		return row
	}
	return o.base[k]
}

func (o overlay) set(k history.Key, row history.Row) { o.top[k] = row }

// id names a world among others with the same base.
func (v world) id() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%x", v.done)
	for _, k := range slices.Sorted(maps.Keys(v.rows)) {
		fmt.Fprintf(&b, "|%q=%s", k, rowID(v.rows[k]))
	}
	return b.String()
}

func rowID(r history.Row) string {
	if r == nil {
		return "-"
	}
	var b strings.Builder
	b.WriteByte('+')
	for _, c := range slices.Sorted(maps.Keys(r)) {
		if r[c] == nil {
			fmt.Fprintf(&b, "%q:N,", c)
		} else {
			fmt.Fprintf(&b, "%q:%q,", c, *r[c])
		}
	}
	return b.String()
}
