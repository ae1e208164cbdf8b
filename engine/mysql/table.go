package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rowproof/engine/ddl"
)

// ErrNoTable means that the schema has no base table of that name.
var ErrNoTable = errors.New("no such table")

// ReadTable reads a table's definition from the server.
func (s *Server) ReadTable(ctx context.Context, name ddl.TableName) (ddl.Table, error) {
	t := ddl.Table{Name: name}
	var err error
	if t.Columns, err = s.readColumns(ctx, name); err != nil {
		return ddl.Table{}, fmt.Errorf("read columns of %s: %w", name, err)
	}
	if len(t.Columns) == 0 {
		return ddl.Table{}, fmt.Errorf("read table %s: %w", name, ErrNoTable)
	}
	if t.Keys, err = s.readKeys(ctx, name); err != nil {
		return ddl.Table{}, fmt.Errorf("read keys of %s: %w", name, err)
	}
	var ignored string
	if err := s.DB.QueryRowContext(ctx, "SHOW CREATE TABLE "+name.Quoted()).Scan(&ignored, &t.CreateSQL); err != nil {
		return ddl.Table{}, fmt.Errorf("read definition of %s: %w", name, err)
	}
	return t, nil
}

func (s *Server) readColumns(ctx context.Context, name ddl.TableName) ([]ddl.Column, error) {
	rows, err := s.DB.QueryContext(ctx, Step("preflight", `
		SELECT COLUMN_NAME, ORDINAL_POSITION, DATA_TYPE, COLUMN_TYPE, IFNULL(CHARACTER_SET_NAME, ''),
		       IFNULL(COLLATION_NAME, ''), IS_NULLABLE = 'YES', COLUMN_DEFAULT, EXTRA, IFNULL(GENERATION_EXPRESSION, '')
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`),
		name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []ddl.Column
	for rows.Next() {
		var c ddl.Column
		var fallback sql.NullString
		err := rows.Scan(&c.Name, &c.Position, &c.DataType, &c.ColumnType, &c.Charset, &c.Collation,
			&c.Nullable, &fallback, &c.Extra, &c.Expression)
		if err != nil {
			return nil, err
		}
		if fallback.Valid {
			c.Default = &fallback.String
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

func (s *Server) readKeys(ctx context.Context, name ddl.TableName) ([]ddl.Key, error) {
	rows, err := s.DB.QueryContext(ctx, Step("preflight", `
		SELECT INDEX_NAME, NON_UNIQUE, INDEX_TYPE, IFNULL(COLUMN_NAME, ''), IFNULL(SUB_PART, 0),
		       IFNULL(EXPRESSION, ''), IFNULL(COLLATION, '') = 'D'
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?
		ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`), name.Schema, name.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []ddl.Key
	for rows.Next() {
		var k ddl.Key
		var part ddl.KeyPart
		var repeats bool
		if err := rows.Scan(&k.Name, &repeats, &k.Type, &part.Column, &part.Prefix, &part.Expr, &part.Desc); err != nil {
			return nil, err
		}
		if len(keys) == 0 || keys[len(keys)-1].Name != k.Name {
			k.Unique, k.Primary = !repeats, k.Name == "PRIMARY"
			keys = append(keys, k)
		}
		last := &keys[len(keys)-1]
		last.Parts = append(last.Parts, part)
	}
	return keys, rows.Err()
}

// Exists reports whether a table or view of that name exists.
func (s *Server) Exists(ctx context.Context, name ddl.TableName) (bool, error) {
	var n int
	err := s.DB.QueryRowContext(ctx, Step("preflight",
		"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"),
		name.Schema, name.Name).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("look for table %s: %w", name, err)
	}
	return n > 0, nil
}

// NextAutoIncrement reads the number that the table gives its next row, and
// 0 if it numbers none.
func NextAutoIncrement(ctx context.Context, conn *sql.Conn, name ddl.TableName) (uint64, error) {
	if _, err := conn.ExecContext(ctx, "SET SESSION information_schema_stats_expiry = 0"); err != nil {
		return 0, fmt.Errorf("read AUTO_INCREMENT of %s: %w", name, err)
	}
	var next sql.Null[uint64]
	err := conn.QueryRowContext(ctx,
		"SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		name.Schema, name.Name).Scan(&next)
	if err != nil {
		return 0, fmt.Errorf("read AUTO_INCREMENT of %s: %w", name, err)
	}
	return next.V, nil
}

// Comment reads a table's comment.
func (s *Server) Comment(ctx context.Context, name ddl.TableName) (string, error) {
	var comment string
	err := s.DB.QueryRowContext(ctx, Step("preflight",
		"SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"),
		name.Schema, name.Name).Scan(&comment)
	if err != nil {
		return "", fmt.Errorf("read comment of %s: %w", name, err)
	}
	return comment, nil
}
