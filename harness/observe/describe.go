package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Definition is a table's columns and primary key.
type Definition struct {
	Columns []Column
	Key     []string // primary key columns in key order; none without a primary key
}

// Column is one column of a table.
type Column struct {
	Name      string
	Type      string // as in information_schema.columns.data_type: "varchar"
	FullType  string // "varchar(32)", "enum('a','b')"
	Charset   string // "" for anything but text
	Collation string
	Pads      bool // its collation ignores trailing spaces
	Generated bool
}

// Describe reads a table's definition.
func Describe(ctx context.Context, db *sql.DB, t TableRef) (Definition, error) {
	conn, done, err := session(ctx, db)
	if err != nil {
		return Definition{}, err
	}
	defer done()
	return describe(ctx, conn, t)
}

func describe(ctx context.Context, conn *sql.Conn, t TableRef) (Definition, error) {
	var d Definition
	where := fmt.Sprintf("c.table_schema = %s AND c.table_name = %s", text(t.Schema), text(t.Name))
	err := query(ctx, conn, `
SELECT c.column_name, c.data_type, c.column_type, COALESCE(c.character_set_name, ''), COALESCE(c.collation_name, ''),
  COALESCE(o.pad_attribute, '') = 'PAD SPACE', c.extra LIKE '%GENERATED' AND c.extra NOT LIKE 'DEFAULT_GENERATED%'
FROM information_schema.columns c LEFT JOIN information_schema.collations o ON o.collation_name = c.collation_name
WHERE `+where+" ORDER BY c.ordinal_position", func(row []*string) error {
		d.Columns = append(d.Columns, Column{
			Name: *row[0], Type: strings.ToLower(*row[1]), FullType: *row[2],
			Charset: *row[3], Collation: *row[4], Pads: *row[5] == "1", Generated: *row[6] == "1",
		})
		return nil
	})
	if err != nil {
		return d, fmt.Errorf("describe table %s: %w", t, err)
	}
	if len(d.Columns) == 0 {
		return d, fmt.Errorf("describe table %s: no such table", t)
	}
	err = query(ctx, conn, `SELECT c.column_name FROM information_schema.statistics c WHERE `+where+
		" AND c.index_name = 'PRIMARY' ORDER BY c.seq_in_index", func(row []*string) error {
		d.Key = append(d.Key, *row[0])
		return nil
	})
	if err != nil {
		return d, fmt.Errorf("describe key of table %s: %w", t, err)
	}
	return d, nil
}

// column returns the column of this name.
func (d Definition) column(name string) (Column, bool) {
	i := slices.IndexFunc(d.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return d.Columns[i], true
}

// key returns the key's columns.
func (d Definition) key() []Column {
	columns := make([]Column, len(d.Key))
	for i, name := range d.Key {
		columns[i], _ = d.column(name)
	}
	return columns
}

// position returns the place of a column in a row, -1 if it is not there.
func (d Definition) position(name string) int {
	return slices.IndexFunc(d.Columns, func(c Column) bool { return c.Name == name })
}
