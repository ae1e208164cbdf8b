package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// What follows makes the new table the same as the server's own ALTER would
// have made it, or refuses, where copying rows alone would not.

// nameChecks gives the CHECK constraints of the empty shadow names that become
// the original's in the swap.
func (m *migration) nameChecks(ctx context.Context, run func(what, query string) error) (ddl.Checks, error) {
	original, err := m.server.ReadTable(ctx, m.names.original)
	if err != nil {
		return ddl.Checks{}, err
	}
	checks, err := ddl.NewChecks(original, m.names.shadow, m.names.old)
	if err != nil {
		return ddl.Checks{}, err
	}
	shadow, err := m.server.ReadTable(ctx, m.names.shadow)
	if err != nil {
		return ddl.Checks{}, err
	}
	if clauses := checks.Rename(shadow); clauses != "" {
		err = run("name the shadow's CHECK constraints", "ALTER TABLE "+m.names.shadow.Quoted()+" "+clauses)
	}
	return checks, err
}

// moment is when the migration began, by the control table, so that a resumed
// run finds the same one.
func (m *migration) moment(ctx context.Context) (ddl.Moment, error) {
	var local string
	var seconds float64
	err := m.server.DDL.QueryRowContext(ctx, mysql.Step("shadow",
		"SELECT CAST(CREATE_TIME AS CHAR), UNIX_TIMESTAMP(CREATE_TIME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"),
		m.names.control.Schema, m.names.control.Name).Scan(&local, &seconds)
	if err != nil {
		return ddl.Moment{}, fmt.Errorf("read the time of the start: %w", err)
	}
	return ddl.Moment{Local: local, UTC: time.Unix(int64(seconds), 0).UTC().Format(time.DateTime)}, nil
}

// checkRows refuses what the server's ALTER would refuse, or do in a way that
// can't be repeated, because of rows that are there.
func (m *migration) checkRows(ctx context.Context) error {
	var mode string
	var explicit bool
	err := m.server.DDL.QueryRowContext(ctx, "SELECT @@session.sql_mode, @@session.explicit_defaults_for_timestamp").Scan(&mode, &explicit)
	if err != nil {
		return fmt.Errorf("read sql_mode: %w", err)
	}
	for _, f := range m.plan.Mapping.Fills {
		if !f.ZeroDate || !strings.Contains(mode, "NO_ZERO_DATE") {
			continue
		}
		if found, err := m.hasRow(ctx, "TRUE"); err != nil || found {
			return cmp.Or(err, f.RefuseZeroDate())
		}
	}
	for _, p := range m.plan.Mapping.Pairs {
		if !explicit && p.ForbidsNullTimes() {
			return &ddl.Refusal{What: "NOT NULL on column " + p.Original.Quoted(),
				Why: "explicit_defaults_for_timestamp is OFF, so the server would turn a NULL into the present time",
				Do:  "turn that deprecated variable on"}
		}
		if !p.StartsNumbering() || strings.Contains(mode, "NO_AUTO_VALUE_ON_ZERO") {
			continue
		}
		if found, err := m.hasRow(ctx, p.Original.Quoted()+" = 0"); err != nil || found {
			return cmp.Or(err, p.RefuseNumbering())
		}
	}
	return nil
}

// hasRow tells whether a row of the original satisfies the condition.
func (m *migration) hasRow(ctx context.Context, condition string) (bool, error) {
	var one int
	err := m.server.DB.QueryRowContext(ctx, mysql.Step("shadow",
		"SELECT 1 FROM "+m.names.original.Quoted()+" WHERE "+condition+" LIMIT 1")).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at rows of %s: %w", m.names.original, err)
	}
	return true, nil
}
