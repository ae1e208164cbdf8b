package backfill

import (
	"context"
	"fmt"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Chunk is a run of neighbouring keys: above Range.After, up to and with
// Range.UpTo. The first has no lower end and the last no upper one.
type Chunk struct {
	Number int // from 1
	Range  ddl.Range
}

// Last reports whether no chunk follows.
func (c Chunk) Last() bool { return c.Range.UpTo == nil }

// Chunker cuts the original into chunks of about the same number of rows.
type Chunker struct {
	server *mysql.Server
	plan   ddl.Plan
	step   string
	rows   int
	chunk  Chunk
}

// NewChunker returns a chunker whose chunks hold the given number of rows;
// its statements carry the name of the step.
func NewChunker(s *mysql.Server, plan ddl.Plan, step string, rows int) *Chunker {
	return &Chunker{server: s, plan: plan, step: step, rows: rows}
}

// StartAfter leaves out the keys up to and with this one; nil leaves out
// none. It precedes the first Next.
func (c *Chunker) StartAfter(key ddl.Tuple) { c.chunk.Range.UpTo = key }

// Next returns the next chunk, and false when the one before was the last.
// The border is read without locks: rows that come or go meanwhile only
// change how many rows a chunk has, not which chunk a key belongs to.
func (c *Chunker) Next(ctx context.Context) (Chunk, bool, error) {
	if c.chunk.Number > 0 && c.chunk.Last() {
		return Chunk{}, false, nil
	}
	query := c.plan.NextBorder(c.chunk.Range.UpTo, c.rows)
	keys, err := readKeys(ctx, c.server, c.step, query, c.plan)
	for again := new(mysql.Backoff); mysql.Retryable(err) && again.Wait(ctx, err); {
		keys, err = readKeys(ctx, c.server, c.step, query, c.plan)
	}
	if err != nil {
		return Chunk{}, false, fmt.Errorf("find chunk border: %w", err)
	}
	next := Chunk{Number: c.chunk.Number + 1, Range: ddl.Range{After: c.chunk.Range.UpTo}}
	if len(keys) > 0 {
		next.Range.UpTo = keys[0]
	}
	c.chunk = next
	return next, true, nil
}
