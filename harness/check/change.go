package check

import (
	"maps"
	"strconv"

	"rowproof/harness/history"
)

// rowsView is a set of rows that a change can be applied to.
type rowsView interface {
	get(history.Key) history.Row
	set(history.Key, history.Row)
}

type plainRows map[history.Key]history.Row

func (p plainRows) get(k history.Key) history.Row      { return p[k] }
func (p plainRows) set(k history.Key, row history.Row) { p[k] = row }

func applyChange(rows map[history.Key]history.Row, c history.Change) {
	change(plainRows(rows), c)
}

// change applies c and reports whether the server could have acknowledged it
// on these rows: an INSERT of a key that exists would have been refused. An
// UPDATE or DELETE of an absent row is acknowledged and does nothing. A look
// is possible if the row is what it says. Rows are replaced, never written to,
// so that views may share them.
func change(rows rowsView, c history.Change) bool {
	row := rows.get(c.Key)
	switch c.Kind {
	case history.Insert:
		rows.set(c.Key, maps.Clone(c.Set))
		if c.Set == nil {
			rows.set(c.Key, history.Row{})
		}
		return row == nil
	case history.Update:
		if row != nil {
			rows.set(c.Key, written(row, c))
		}
	case history.Delete:
		if row != nil {
			rows.set(c.Key, nil)
		}
	case history.Move:
		if row == nil {
			return true
		}
		free := c.NewKey == c.Key || rows.get(c.NewKey) == nil
		rows.set(c.Key, nil)
		rows.set(c.NewKey, written(row, c))
		return free
	case seen:
		return sameRow(row, c.Set, nil)
	case present:
		return row != nil
	}
	return true
}

// written returns a copy of row with the change's columns written.
func written(row history.Row, c history.Change) history.Row {
	next := maps.Clone(row)
	for column, v := range c.Set {
		next[column] = v
	}
	for column, n := range c.Add {
		old, ok := next[column]
		switch {
		case !ok: // not known, so not comparable
		case old == nil: // NULL + n is NULL
		default:
			if v, err := strconv.ParseInt(*old, 10, 64); err == nil {
				next[column] = history.Text(strconv.FormatInt(v+n, 10))
			} else {
				delete(next, column)
			}
		}
	}
	return next
}
