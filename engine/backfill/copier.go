package backfill

import (
	"context"
	"fmt"
	"log/slog"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Copier copies chunks from the original to the shadow.
type Copier struct {
	Server *mysql.Server
	Plan   ddl.Plan
	// Keys writes single rows of a chunk that could not be copied as a whole,
	// and returns those that are locked by others.
	Keys func(ctx context.Context, keys []ddl.Tuple) (locked []ddl.Tuple, err error)
	Log  *slog.Logger
}

// Copy copies one chunk and returns the number of its rows when they are in
// the shadow; a row that can't be there is an error that names it.
//
// Reading and writing are one statement, and the read locks what it reads:
// no change of these rows can be applied to the shadow in between, to be
// overwritten by the older state.
func (c *Copier) Copy(ctx context.Context, chunk Chunk) (rows int64, err error) {
	var again mysql.Backoff
	for {
		result, err := c.Server.DB.ExecContext(ctx, mysql.Step("copy-write", c.statement(chunk.Range)))
		switch {
		case err == nil:
			return result.RowsAffected()
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case mysql.Retryable(err):
			c.Log.Debug("chunk waits", "chunk", chunk.Number, "reason", mysql.ErrorMessage(err))
			again.Wait(ctx, err)
		case mysql.ErrorNumber(err) == 0:
			return 0, fmt.Errorf("copy chunk %d: %w", chunk.Number, err)
		default:
			return c.rowByRow(ctx, chunk)
		}
	}
}

// statement of one chunk. Rows that the applier has put there already are
// replaced by the same state. Where a duplicate may be real, nothing must be
// replaced (see the apply package): then such rows make the chunk go row by
// row.
func (c *Copier) statement(r ddl.Range) string {
	if c.Plan.MayDuplicate() {
		return c.Plan.Copy(ddl.Insert, r)
	}
	return c.Plan.Copy(ddl.Replace, r)
}

// rowByRow copies a chunk by its keys: it holds a row that does not fit, or
// that is in the shadow already, or that meets a stale row under a unique key.
func (c *Copier) rowByRow(ctx context.Context, chunk Chunk) (rows int64, err error) {
	keys, err := readKeys(ctx, c.Server, "copy-next", c.Plan.KeysIn(chunk.Range), c.Plan)
	if err != nil {
		return 0, fmt.Errorf("copy chunk %d: %w", chunk.Number, err)
	}
	rows = int64(len(keys))
	for len(keys) > 0 {
		if keys, err = c.Keys(ctx, keys); err != nil {
			return 0, fmt.Errorf("copy chunk %d: %w", chunk.Number, err)
		}
	}
	return rows, nil
}
