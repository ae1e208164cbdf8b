package checkpoint

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Step is the name that the statement which saves a checkpoint carries.
const Step = "checkpoint"

// row is the name of the checkpoint's row; the others are markers.
const row = "checkpoint"

// Column is the definition of the control table's column that holds the
// document: text in any language, whatever the schema's character set.
const Column = "document MEDIUMTEXT CHARACTER SET utf8mb4 NULL"

// ErrNone means that the control table holds no checkpoint.
var ErrNone = errors.New("no checkpoint")

// Store is the control table of a migration, with the columns name (the
// key), token and Column.
type Store struct {
	Server *mysql.Server
	Table  ddl.TableName
}

// Save replaces the checkpoint, by one statement.
func (s Store) Save(ctx context.Context, d Document) error {
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	query := fmt.Sprintf("REPLACE INTO %s (name, token, document) VALUES (?, ?, ?)", s.Table.Quoted())
	if _, err := s.Server.DB.ExecContext(ctx, mysql.Step(Step, query), row, d.Token, string(text)); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	return nil
}

// Load returns the checkpoint, or ErrNone.
func (s Store) Load(ctx context.Context) (Document, error) {
	var token string
	var text sql.NullString
	err := s.Server.DB.QueryRowContext(ctx, mysql.Step("preflight",
		"SELECT token, document FROM "+s.Table.Quoted()+" WHERE name = ?"), row).Scan(&token, &text)
	const unknownColumn = 1054 // a control table of an osc that saved none
	switch {
	case errors.Is(err, sql.ErrNoRows), mysql.ErrorNumber(err) == unknownColumn, err == nil && !text.Valid:
		return Document{}, fmt.Errorf("read checkpoint: %w", ErrNone)
	case err != nil:
		return Document{}, fmt.Errorf("read checkpoint: %w", err)
	}
	d, err := parse(text.String)
	d.Token = token
	return d, err
}
