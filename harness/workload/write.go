package workload

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// Write is one statement that changes rows, and what it changes if its
// transaction commits.
type Write struct {
	SQL     string
	Changes []history.Change
}

// Insert inserts row, which must hold the key columns.
func Insert(t fixtures.Table, row history.Row) Write {
	columns := slices.Sorted(maps.Keys(row))
	values := make([]string, len(columns))
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i], values[i] = Quote(c), literal(row[c])
	}
	return Write{
		SQL: "INSERT INTO " + Quote(t.Name) + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")",
		Changes: []history.Change{{
			Kind: history.Insert, Key: KeyOf(t, row), Set: maps.Clone(row),
		}},
	}
}

// Update writes the columns of set into the row under key.
func Update(t fixtures.Table, key history.Key, set history.Row) Write {
	return Write{
		SQL:     "UPDATE " + Quote(t.Name) + " SET " + assignments(set) + where(t, key),
		Changes: []history.Change{{Kind: history.Update, Key: key, Set: maps.Clone(set)}},
	}
}

// Add adds n to a column of the row under key. Unlike Update, many clients
// may add to one row at once, and the ledger still knows the sum.
func Add(t fixtures.Table, key history.Key, column string, n int64) Write {
	return Write{
		SQL:     "UPDATE " + Quote(t.Name) + " SET " + Quote(column) + " = " + Quote(column) + " + " + strconv.FormatInt(n, 10) + where(t, key),
		Changes: []history.Change{{Kind: history.Update, Key: key, Add: map[string]int64{column: n}}},
	}
}

// UpdateAll writes the columns of set into every row that the table was seeded
// with, in one statement. No other row may be there.
func UpdateAll(t fixtures.Table, set history.Row) Write {
	w := Write{SQL: "UPDATE " + Quote(t.Name) + " SET " + assignments(set)}
	for id := int64(1); id <= t.Rows; id++ {
		w.Changes = append(w.Changes, history.Change{Kind: history.Update, Key: history.Key(t.KeyAt(id)), Set: maps.Clone(set)})
	}
	return w
}

// Delete deletes the row under key.
func Delete(t fixtures.Table, key history.Key) Write {
	return Write{
		SQL:     "DELETE FROM " + Quote(t.Name) + where(t, key),
		Changes: []history.Change{{Kind: history.Delete, Key: key}},
	}
}

// Move gives the row under key the key to, and changes nothing else of it.
func Move(t fixtures.Table, key, to history.Key) Write {
	set := keyRow(t, to)
	return Write{
		SQL:     "UPDATE " + Quote(t.Name) + " SET " + assignments(set) + where(t, key),
		Changes: []history.Change{{Kind: history.Move, Key: key, NewKey: to, Set: set}},
	}
}

// KeyOf returns the key of a row of t.
func KeyOf(t fixtures.Table, row history.Row) history.Key {
	parts := make([]string, len(t.Key))
	for i, c := range t.Key {
		if v := row[c]; v != nil {
			parts[i] = *v
		}
	}
	return history.Key(strings.Join(parts, ","))
}

// keyRow splits a key into its columns. Only the last column of a composite
// key may hold a comma.
func keyRow(t fixtures.Table, key history.Key) history.Row {
	row := history.Row{}
	for i, part := range strings.SplitN(string(key), ",", len(t.Key)) {
		row[t.Key[i]] = history.Text(part)
	}
	return row
}

func where(t fixtures.Table, key history.Key) string { return " WHERE " + Condition(t, key) }

// Condition holds for the row under key alone.
func Condition(t fixtures.Table, key history.Key) string {
	row := keyRow(t, key)
	parts := make([]string, len(t.Key))
	for i, c := range t.Key {
		parts[i] = Quote(c) + " = " + keyLiteral(t, row[c])
	}
	return strings.Join(parts, " AND ")
}

func assignments(set history.Row) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, Quote(c)+" = "+literal(set[c]))
	}
	return strings.Join(parts, ", ")
}

// Quote quotes an identifier.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal writes a text as a value.
func Literal(text string) string { return literal(&text) }

// keyLiteral writes a value to look a row up by. A text is not looked for as a
// number: no index would help, and every row would be locked.
func keyLiteral(t fixtures.Table, v *string) string {
	if t.TextKey && v != nil {
		return quoteText(*v)
	}
	return literal(v)
}

// plainInteger is an integer as the server writes it, of at most as many
// digits as a DECIMAL has: in quotes it would be compared as a DOUBLE.
var plainInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,64})$`)

// plainBytes is how observe.Text spells bytes that are no text.
var plainBytes = regexp.MustCompile(`^0x([0-9A-F]{2})+$`)

// literal writes a value: a plain integer and bytes as they are, anything else
// as a string, which the server converts to the column's type.
func literal(v *string) string {
	switch {
	case v == nil:
		return "NULL"
	case plainInteger.MatchString(*v), plainBytes.MatchString(*v):
		return *v
	}
	return quoteText(*v)
}

func quoteText(v string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''", "\x00", `\0`).Replace(v) + "'"
}
