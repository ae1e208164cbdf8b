package checksum

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// convertedName is the temporary table into which the server converts rows;
// each session has its own.
const convertedName = "_osc_converted"

// converted compares, in a range of keys, the columns whose conversion no
// expression repeats: it has the server convert them once more. It follows the
// comparison of the others, which finds the rows that are missing.
func (v *Verifier) converted(ctx context.Context, r ddl.Range) (err error) {
	if !v.Plan.NeedsConverting() {
		return nil
	}
	conn, err := v.Server.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	table := ddl.TableName{Schema: v.Plan.Original.Name.Schema, Name: convertedName}.Quoted()
	if _, err := conn.ExecContext(ctx, mysql.Step("verify", v.Plan.ConvertedCreate(table))); err != nil {
		return fmt.Errorf("make a table for converted rows: %w", err)
	}
	defer func() {
		_, drop := conn.ExecContext(context.WithoutCancel(ctx), "DROP TEMPORARY TABLE "+table)
		if !mysql.ConnectionLost(drop) { // then the table is gone
			err = errors.Join(err, drop)
		}
	}()
	if _, err := conn.ExecContext(ctx, mysql.Step("verify", v.Plan.ConvertedFill(table, v.Plan.Key.Where(r), false))); err != nil {
		return fmt.Errorf("convert rows: %w", err)
	}
	suspects, err := v.read(ctx, conn, v.Plan.ConvertedDifferences(table, false), false)
	for err == nil && len(suspects) > 0 && v.found() < mostNamed {
		n := min(len(suspects), mostHeld)
		var wrong []string
		wrong, err = v.confirmConverted(ctx, conn, table, suspects[:n])
		v.mu.Lock()
		v.wrong = append(v.wrong, wrong...)
		v.mu.Unlock()
		suspects = suspects[n:]
	}
	return err
}

// confirmConverted looks at suspects again, as confirm does.
func (v *Verifier) confirmConverted(ctx context.Context, conn *sql.Conn, table string, suspects []suspect) ([]string, error) {
	for {
		wrong, err := v.confirmConvertedOnce(ctx, conn, table, suspects)
		if err == nil || ctx.Err() != nil || !mysql.Retryable(err) || mysql.ConnectionLost(err) {
			return wrong, err
		}
	}
}

func (v *Verifier) confirmConvertedOnce(ctx context.Context, conn *sql.Conn, table string, suspects []suspect) (wrong []string, err error) {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it wrote a temporary table alone
	keys := make([]ddl.Tuple, len(suspects))
	for i, s := range suspects {
		keys[i] = s.key
	}
	where := v.Plan.Key.In(keys)
	hold := "SELECT COUNT(*) FROM " + v.Plan.Original.Name.Quoted() + " WHERE " + where + " FOR SHARE"
	if _, err := tx.ExecContext(ctx, mysql.Step("verify", hold)); err != nil {
		return nil, err
	}
	if err := v.Settle(ctx); err != nil {
		return nil, err
	}
	for _, statement := range []string{"DELETE FROM " + table, v.Plan.ConvertedFill(table, where, true)} {
		if _, err := tx.ExecContext(ctx, mysql.Step("verify", statement)); err != nil {
			return nil, err
		}
	}
	left, err := v.read(ctx, tx, v.Plan.ConvertedDifferences(table, true), false)
	for _, s := range left {
		wrong = append(wrong, v.describe(s))
	}
	return wrong, err
}
