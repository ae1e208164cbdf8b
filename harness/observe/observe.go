// Package observe reads from the servers, after a run, what the checkers
// judge.
//
// Read in this order. Describe (describe.go) reads a table's definition;
// Schema (schema.go) compares two. Oracle (oracle.go) makes the table that
// MySQL's own ALTER gives. Compare (compare.go) compares the rows of two
// tables inside the servers, by range of keys (keyrange.go, digest.go), and
// drills down to the rows that differ (leaf.go; bag.go for tables without a
// key); encode.go says when two values are the same. Rows, Binlog and
// Leftovers read the rest.
package observe

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"unicode/utf8"

	"rowproof/harness/history"
)

// TableRef names a table on a server.
type TableRef struct {
	Schema string
	Name   string
}

// Quoted returns the reference as SQL.
func (t TableRef) Quoted() string { return quote(t.Schema) + "." + quote(t.Name) }

func (t TableRef) String() string { return t.Schema + "." + t.Name }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// text quotes a string literal.
func text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
}

// session takes a connection with settings under which a value reads the same
// on every server: UTC, and no mode that changes what is read. It does not go
// back to the pool.
func session(ctx context.Context, db *sql.DB) (*sql.Conn, func(), error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to observe: %w", err)
	}
	done := func() {
		// The settings must not leak into the pool, so the connection is
		// discarded; both calls then report just that.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close()
	}
	for _, s := range []string{
		"SET NAMES utf8mb4",
		"SET SESSION time_zone = '+00:00', SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', SESSION transaction_isolation = 'READ-COMMITTED'",
		"SET SESSION group_concat_max_len = 4294967295, SESSION information_schema_stats_expiry = 0",
	} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			done()
			return nil, nil, fmt.Errorf("prepare session: %w", err)
		}
	}
	return conn, done, nil
}

// query runs a statement and calls each for every row, with the columns as
// text; nil is NULL.
func query(ctx context.Context, conn *sql.Conn, statement string, each func(row []*string) error) error {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return fmt.Errorf("query %.200q: %w", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("read columns: %w", err)
	}
	for rows.Next() {
		row := make([]*string, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("read row: %w", err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read rows of %.200q: %w", statement, err)
	}
	return nil
}

// Text returns bytes of a table as they stand in a history.Row or history.Key:
// as they are if they are readable text, else as 0x and hex digits.
func Text(b string) string {
	if utf8.ValidString(b) && !strings.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' }) {
		return b
	}
	return fmt.Sprintf("0x%X", b)
}

// TouchedKeys returns the keys that the operations write, each once, in the
// order of first use.
func TouchedKeys(ops []history.Op) []history.Key {
	seen := map[history.Key]bool{}
	var keys []history.Key
	add := func(k history.Key) {
		if k != "" && !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	for _, op := range ops {
		for _, c := range op.Changes {
			add(c.Key)
			add(c.NewKey)
		}
		for k := range op.Saw {
			add(k)
		}
	}
	return keys
}
