package observe

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"rowproof/harness/history"
)

// keysPerQuery bounds the length of one statement.
const keysPerQuery = 500

// Rows reads the rows under the given values of the primary key. A key without
// a row is not in the result.
func Rows(ctx context.Context, db *sql.DB, t TableRef, keys []history.Key) (map[history.Key]history.Row, error) {
	return RowsBy(ctx, db, t, nil, keys)
}

// RowsBy is Rows by the values of other columns than the primary key's, which
// an ALTER may have changed. Of several rows under one key it returns any.
func RowsBy(ctx context.Context, db *sql.DB, t TableRef, columns []string, keys []history.Key) (map[history.Key]history.Row, error) {
	found := map[history.Key]history.Row{}
	if len(keys) == 0 {
		return found, nil
	}
	s, done, err := open(ctx, Side{DB: db, Table: t})
	if err != nil {
		return nil, err
	}
	defer done()
	if len(columns) > 0 {
		s.def.Key = columns
		s.key = s.def.key()
	}
	if len(s.key) == 0 {
		return nil, fmt.Errorf("read rows of %s: it has no primary key", t)
	}
	for len(keys) > 0 {
		n := min(len(keys), keysPerQuery)
		conditions := make([]string, n)
		for i, k := range keys[:n] {
			if conditions[i], err = s.hasKey(k); err != nil {
				return nil, err
			}
		}
		keys = keys[n:]
		where := strings.Join(conditions, " OR ")
		if len(s.key) == 1 {
			where = quote(s.key[0].Name) + " IN (" + strings.Join(conditions, ", ") + ")"
		}
		err := s.rows(ctx, where, "''", func(_ string, row history.Row, _ map[string]string) {
			found[s.keyText(row)] = row
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// All reads every row of a table by key, up to limit rows; more is an error.
// It is for small tables, whose rows belong into the record.
func All(ctx context.Context, db *sql.DB, t TableRef, limit int) ([]history.Row, error) {
	s, done, err := open(ctx, Side{DB: db, Table: t})
	if err != nil {
		return nil, err
	}
	defer done()
	order := ""
	if len(s.def.Key) > 0 {
		names := make([]string, len(s.def.Key))
		for i, name := range s.def.Key {
			names[i] = quote(name)
		}
		order = " ORDER BY " + strings.Join(names, ", ")
	}
	var all []history.Row
	err = s.rows(ctx, fmt.Sprintf("TRUE%s LIMIT %d", order, limit+1), "''", func(_ string, row history.Row, _ map[string]string) {
		all = append(all, row)
	})
	if err == nil && len(all) > limit {
		err = fmt.Errorf("read all rows of %s: more than %d", t, limit)
	}
	return all, err
}

// hasKey returns the literal of a key of one column, or the condition that a
// row has a key of several. Only the last column may hold a comma.
func (s side) hasKey(k history.Key) (string, error) {
	parts := strings.SplitN(string(k), ",", len(s.key))
	if len(parts) != len(s.key) {
		return "", fmt.Errorf("read row %q of %s: its key has %d columns", k, s.table, len(s.key))
	}
	b := make(bound, len(parts))
	for i, c := range s.key {
		b[i] = c.textLiteral(parts[i])
	}
	if len(b) == 1 {
		return b[0], nil
	}
	return "(" + b.is(s.key) + ")", nil
}

func (s side) keyText(row history.Row) history.Key {
	parts := make([]string, len(s.key))
	for i, c := range s.key {
		parts[i] = *row[c.Name]
	}
	return history.Key(strings.Join(parts, ","))
}
