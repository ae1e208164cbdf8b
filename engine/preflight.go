package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// preflight finds out whether the migration is safe here. It changes
// nothing, and everything it refuses is a *ddl.Refusal.
func (m *migration) preflight(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		m.checkServer,
		m.checkPrivileges, // first: other checks read what only some may read
		m.checkBinlog,
		m.checkAlter,
		m.checkTable,
		m.checkNames,
		m.checkThrottle,
		m.checkRoom,
	} {
		if err := check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) checkServer(ctx context.Context) error {
	v := m.server.Version
	if !v.AtLeast(8, 0) || strings.Contains(strings.ToLower(v.Text), "mariadb") {
		return &ddl.Refusal{What: "server version " + v.Text, Why: "locked tables can't be renamed there in one step",
			Do: "use MySQL 8.0 or later"}
	}
	var readOnly bool
	if err := m.server.DB.QueryRowContext(ctx, mysql.Step("preflight", "SELECT @@global.super_read_only OR @@global.read_only")).Scan(&readOnly); err != nil {
		return fmt.Errorf("read server settings: %w", err)
	}
	if readOnly {
		return &ddl.Refusal{What: "server " + m.cfg.Server.Address(), Why: "it is read-only", Do: "connect to the source"}
	}
	return nil
}

// The privileges of a migration. TRIGGER and PROCESS change nothing: without
// them the server hides triggers, and foreign keys of other schemas, and a
// table would be migrated that must not be. The temporary table is the one
// in which duplicates are looked for.
var (
	neededInSchema = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "LOCK TABLES",
		"TRIGGER", "CREATE TEMPORARY TABLES"}
	neededGlobally = []string{"REPLICATION SLAVE", "REPLICATION CLIENT", "PROCESS"}
)

func (m *migration) checkPrivileges(ctx context.Context) error {
	have, err := m.server.Grants(ctx, m.names.original.Schema)
	if err != nil {
		return err
	}
	var missing []string
	for _, p := range neededGlobally {
		if !have.Global[p] {
			missing = append(missing, p+" ON *.*")
		}
	}
	for _, p := range neededInSchema {
		if !have.InSchema(p) {
			missing = append(missing, p+" ON "+ddl.QuoteIdent(m.names.original.Schema)+".*")
		}
	}
	if len(missing) > 0 {
		return &ddl.Refusal{What: "user " + m.cfg.Server.User, Why: "it lacks " + strings.Join(missing, ", "), Do: "GRANT them"}
	}
	return nil
}

// checkAlter parses the ALTER, and has the server parse it too, which knows
// its own grammar best. PREPARE runs nothing.
func (m *migration) checkAlter(ctx context.Context) (err error) {
	m.alter, err = ddl.ParseAlter(m.names.original, m.cfg.Alter, m.server.Version.Text)
	var refusal *ddl.Refusal
	switch {
	case errors.As(err, &refusal):
		return err
	case err != nil:
		return &UsageError{err.Error()}
	}
	for _, ignored := range m.alter.Ignored {
		m.cfg.Log.Warn("part of the ALTER has no meaning here", "ignored", ignored)
	}
	conn, err := m.server.DDL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("check ALTER: %w", err)
	}
	defer conn.Close()
	text := "ALTER TABLE " + m.names.original.Quoted() + " " + m.alter.Text
	_, err = conn.ExecContext(ctx, mysql.Step("preflight", "PREPARE osc_check FROM "+ddl.QuoteString(text)))
	const notPreparable, syntax = 1295, 1064
	switch mysql.ErrorNumber(err) {
	case 0:
		if err == nil {
			_, err = conn.ExecContext(ctx, "DEALLOCATE PREPARE osc_check")
		}
	case notPreparable:
		return nil
	case syntax:
		return &UsageError{"--alter: " + mysql.ErrorMessage(err)}
	default:
		return &ddl.Refusal{What: "--alter", Why: "the server says: " + mysql.ErrorMessage(err), Do: "mend the ALTER"}
	}
	if err != nil {
		return fmt.Errorf("check ALTER: %w", err)
	}
	return nil
}

func (m *migration) checkTable(ctx context.Context) error {
	name := m.names.original
	var engine, kind sql.NullString
	err := m.server.DB.QueryRowContext(ctx, mysql.Step("preflight",
		"SELECT TABLE_NAME, ENGINE, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"),
		name.Schema, name.Name).Scan(&m.names.original.Name, &engine, &kind)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &ddl.Refusal{What: "table " + name.String(), Why: "there is no such table", Do: "check --database and --table"}
	case err != nil:
		return fmt.Errorf("look for table %s: %w", name, err)
	case kind.String != "BASE TABLE":
		return &ddl.Refusal{What: name.String(), Why: "it is a " + strings.ToLower(kind.String), Do: "name a table"}
	case engine.String != "InnoDB":
		return &ddl.Refusal{What: "table " + name.String(), Why: "its engine is " + engine.String + ", which has no row locks",
			Do: "migrate InnoDB tables only"}
	}
	for _, q := range []struct{ what, why, do, query string }{
		{"foreign keys of " + name.String(), "the tables they name would be checked against the wrong table after the swap",
			"drop them first and add them again afterwards",
			`SELECT ID FROM information_schema.INNODB_FOREIGN WHERE FOR_NAME = CONCAT(?, '/', ?) OR REF_NAME = CONCAT(?, '/', ?) LIMIT 1`},
		{"triggers of " + name.String(), "they would stay with the old table",
			"drop them first and create them again afterwards",
			`SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?
			 AND ? <> '' AND ? <> '' LIMIT 1`},
	} {
		var found string
		err := m.server.DB.QueryRowContext(ctx, mysql.Step("preflight", q.query), name.Schema, name.Name, name.Schema, name.Name).Scan(&found)
		if err == nil {
			return &ddl.Refusal{What: q.what, Why: ddl.QuoteIdent(found) + ": " + q.why, Do: q.do}
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("look for %s: %w", q.what, err)
		}
	}
	table, err := m.server.ReadTable(ctx, name)
	if err != nil {
		return err
	}
	// Without the shadow, whose columns only the server can tell, the table is
	// planned onto itself: does it have a key that serves at all?
	if _, err = ddl.NewPlan(table, table, ddl.Alter{}); err != nil {
		return err
	}
	checks, err := ddl.NewChecks(table, m.names.shadow, m.names.old)
	if err != nil {
		return err
	}
	return checks.Refuse(m.alter)
}

// checkNames refuses a table whose names are taken. What a run of ours has
// left counts as free: claim removes it.
func (m *migration) checkNames(ctx context.Context) error {
	if m.cfg.Checkpoint.Resume {
		return m.loadCheckpoint(ctx)
	}
	_, err := m.leftovers(ctx)
	return err
}
