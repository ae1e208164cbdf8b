package observe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// ErrRefused means that the server's own ALTER does not take the table's rows.
var ErrRefused = errors.New("MySQL itself refuses this ALTER")

// oracleName is the name of the table that Oracle makes.
const oracleName = "_rowproof_oracle"

// Oracle makes the table that the migration should have given: a copy of the
// old table, taken through MySQL's own ALTER. Nothing of it reaches the binlog.
// The caller drops it with DropOracle. The alteration is the text after
// ALTER TABLE t. The error wraps ErrRefused if MySQL itself refuses the
// alteration of this data, so the right outcome would have been an abort.
func Oracle(ctx context.Context, db *sql.DB, old TableRef, alteration string) (TableRef, error) {
	oracle := TableRef{Schema: old.Schema, Name: oracleName}
	conn, done, err := session(ctx, db)
	if err != nil {
		return oracle, err
	}
	defer done()
	def, err := describe(ctx, conn, old)
	if err != nil {
		return oracle, err
	}
	statement, err := showCreate(ctx, conn, old)
	if err != nil {
		return oracle, err
	}
	var stored []string
	for _, c := range def.Columns {
		if !c.Generated {
			stored = append(stored, quote(c.Name))
		}
	}
	columns := strings.Join(stored, ", ")
	statements := []string{
		"SET SESSION sql_log_bin = 0, SESSION foreign_key_checks = 0",
		"DROP TABLE IF EXISTS " + oracle.Quoted(),
		"CREATE TABLE " + oracle.Quoted() + " LIKE " + old.Quoted(),
		"INSERT INTO " + oracle.Quoted() + " (" + columns + ") SELECT " + columns + " FROM " + old.Quoted(),
	}
	// LIKE starts to count anew, and the rows alone don't tell: the last ones
	// may have been deleted.
	if next := parseCreate(statement).options["AUTO_INCREMENT"]; next != "" {
		statements = append(statements, "ALTER TABLE "+oracle.Quoted()+" AUTO_INCREMENT = "+next)
	}
	statements = append(statements,
		// Here the mode and the time zone do matter: they decide what the
		// ALTER makes of a value, and whether it refuses it.
		"SET SESSION sql_mode = DEFAULT, SESSION time_zone = DEFAULT",
	)
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return oracle, fmt.Errorf("make oracle of %s: %.80q: %w", old, s, err)
		}
	}
	_, err = conn.ExecContext(ctx, "ALTER TABLE "+oracle.Quoted()+" "+alteration)
	var refusal *mysql.MySQLError
	switch {
	case errors.As(err, &refusal):
		return oracle, fmt.Errorf("make oracle of %s: %w: %w", old, ErrRefused, err)
	case err != nil:
		return oracle, fmt.Errorf("make oracle of %s: %w", old, err)
	}
	return oracle, nil
}

// DropOracle drops what Oracle made, also if it made only a part.
func DropOracle(ctx context.Context, db *sql.DB, oracle TableRef) error {
	conn, done, err := session(ctx, db)
	if err != nil {
		return err
	}
	defer done()
	for _, s := range []string{"SET SESSION sql_log_bin = 0", "DROP TABLE IF EXISTS " + oracle.Quoted()} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("drop oracle: %w", err)
		}
	}
	return nil
}
