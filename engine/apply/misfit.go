package apply

import (
	"context"
	"fmt"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// trialName is a temporary table for one column; each session has its own.
const trialName = "_osc_trial"

// misfit explains why a row can't be written. The server doesn't name the
// column for each kind of value that can't be converted, so every column is
// tried alone. If none is to blame, it is something of the whole row, such as
// a CHECK constraint or a generated column, which the server names itself.
func (w *Writer) misfit(ctx context.Context, key ddl.Tuple, err error) error {
	row := "row " + w.plan.Key.Describe(key)
	for _, pair := range w.plan.Mapping.Pairs {
		if mysql.ErrorNumber(w.try(ctx, pair, key)) == mysql.ErrorNumber(err) {
			return fmt.Errorf("write %s: column %s: %w", row, pair.Shadow.Quoted(), err)
		}
	}
	return fmt.Errorf("write %s: %w", row, err)
}

// try converts the value of one column.
func (w *Writer) try(ctx context.Context, pair ddl.Pair, key ddl.Tuple) error {
	conn, err := w.server.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	table := ddl.TableName{Schema: w.plan.Original.Name.Schema, Name: trialName}.Quoted()
	if _, err := conn.ExecContext(ctx, mysql.Step(Step, pair.TrialCreate(table))); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, mysql.Step(Step, w.plan.TrialFill(table, pair, key)))
	_, drop := conn.ExecContext(context.WithoutCancel(ctx), "DROP TEMPORARY TABLE "+table)
	if err == nil {
		return drop
	}
	return err
}
