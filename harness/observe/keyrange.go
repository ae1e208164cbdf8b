package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// bound is a key as a list of SQL literals, one per key column. A nil bound is
// no bound.
type bound []string

// keyRange is the keys above after and up to upTo.
type keyRange struct{ after, upTo bound }

// where returns the condition that a row is in the range, spelled so that the
// server reads just that part of the key.
func (r keyRange) where(key []Column) string {
	var parts []string
	if r.after != nil {
		parts = append(parts, quote(key[0].Name)+" >= "+r.after[0], beyond(key, r.after, ">", ">"))
	}
	if r.upTo != nil {
		parts = append(parts, quote(key[0].Name)+" <= "+r.upTo[0], beyond(key, r.upTo, "<", "<="))
	}
	if len(parts) == 0 {
		return "TRUE"
	}
	return strings.Join(parts, " AND ")
}

// beyond compares a key of several columns in key order:
// a > x OR (a = x AND b > y).
func beyond(key []Column, b bound, op, last string) string {
	x := quote(key[0].Name)
	if len(key) == 1 {
		return "(" + x + " " + last + " " + b[0] + ")"
	}
	return "(" + x + " " + op + " " + b[0] + " OR (" + x + " = " + b[0] + " AND " + beyond(key[1:], b[1:], op, last) + "))"
}

// is returns the condition that a row has this key.
func (b bound) is(key []Column) string {
	parts := make([]string, len(key))
	for i, c := range key {
		parts[i] = quote(c.Name) + " = " + b[i]
	}
	return strings.Join(parts, " AND ")
}

// nth returns the key of the nth row of the range, counted from 0 in key
// order, or nil if it has fewer rows.
func (s side) nth(ctx context.Context, r keyRange, n int64) (bound, error) {
	columns := make([]string, len(s.key))
	names := make([]string, len(s.key))
	for i, c := range s.key {
		columns[i], names[i] = "HEX("+c.literalBytes()+")", quote(c.Name)
	}
	statement := fmt.Sprintf("SELECT %s FROM %s FORCE INDEX (PRIMARY) WHERE %s ORDER BY %s LIMIT 1 OFFSET %d",
		strings.Join(columns, ", "), s.table.Quoted(), r.where(s.key), strings.Join(names, ", "), n)
	hexes := make([]string, len(s.key))
	into := make([]any, len(hexes))
	for i := range hexes {
		into[i] = &hexes[i]
	}
	err := s.conn.QueryRowContext(ctx, statement).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find key in %s: %w", s.table, err)
	}
	return s.bound(hexes)
}

func (s side) bound(hexes []string) (bound, error) {
	b := make(bound, len(s.key))
	for i, c := range s.key {
		var err error
		if b[i], err = c.literal(hexes[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}
