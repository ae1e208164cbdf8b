package apply

import (
	"context"
	"database/sql"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// part tells the keys whose rows are locked by others from the rest, without
// waiting for anybody.
//
// A locking read that skips locked rows returns the rows that are free. Of
// the keys that it does not return some have no row. So all rows are read
// besides without locks, those that are committed and those that are not: a
// key that has a row there, or may get one or lose it, is locked.
func (w *Writer) part(ctx context.Context, list []change) (free, locked []change, err error) {
	conn, err := w.server.DB.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	keys := tuples(list)
	skipping := ddl.SkipLocked(w.plan.ReadKeys(keys))
	plain := w.plan.ReadKeys(keys)
	there, err := w.read(ctx, conn, sql.LevelReadCommitted, skipping)
	if err != nil {
		return nil, nil, err
	}
	held := map[string]bool{}
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelReadUncommitted} {
		all, err := w.read(ctx, conn, level, plain)
		if err != nil {
			return nil, nil, err
		}
		for text := range all {
			if !there[text] {
				held[text] = true
			}
		}
	}
	for _, c := range list {
		if held[c.key.String()] {
			locked = append(locked, c)
		} else {
			free = append(free, c)
		}
	}
	return free, locked, nil
}

// read runs a query for keys and returns their texts.
func (w *Writer) read(ctx context.Context, conn *sql.Conn, level sql.IsolationLevel, query string) (map[string]bool, error) {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it has changed nothing
	rows, err := tx.QueryContext(ctx, mysql.Step(Step, query))
	if err != nil {
		return nil, err
	}
	keys, err := mysql.ScanTuples(rows, w.plan.Key.BorderTuple)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]bool, len(keys))
	for _, key := range keys {
		texts[key.String()] = true
	}
	return texts, tx.Commit()
}
