package backfill

import (
	"context"
	"fmt"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Span is the lowest and the highest key of the original when it was read.
// Both are nil for an empty table.
type Span struct{ Lowest, Highest ddl.Tuple }

// ReadSpan reads the range of keys to copy, under locks: a row that is in
// the binlog but not committed yet makes it wait until its fate is known.
func ReadSpan(ctx context.Context, s *mysql.Server, plan ddl.Plan) (Span, error) {
	query := "(" + plan.FirstBorder() + ") UNION ALL (" + plan.LastBorder() + ")"
	var again mysql.Backoff
	for {
		keys, err := readKeys(ctx, s, "range-read", query, plan)
		switch {
		case err == nil && len(keys) == 0:
			return Span{}, nil
		case err == nil:
			return Span{Lowest: keys[0], Highest: keys[len(keys)-1]}, nil
		case !mysql.Retryable(err) || !again.Wait(ctx, err):
			return Span{}, fmt.Errorf("read range of keys: %w", err)
		}
	}
}

func readKeys(ctx context.Context, s *mysql.Server, step, query string, plan ddl.Plan) ([]ddl.Tuple, error) {
	rows, err := s.DB.QueryContext(ctx, mysql.Step(step, query))
	if err != nil {
		return nil, err
	}
	return mysql.ScanTuples(rows, plan.Key.BorderTuple)
}
