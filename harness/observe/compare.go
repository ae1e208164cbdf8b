package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"rowproof/harness/history"
)

// Side is one of two tables to compare. The two may be on one server or on
// two.
type Side struct {
	DB    *sql.DB
	Table TableRef
}

// Options tune a comparison. The zero value is right for a test.
type Options struct {
	Exclude   []history.Key // keys whose rows may differ
	Limit     int           // differing rows to report; 0 means 200
	ChunkSize int64         // rows per chunk; 0 means 20,000
}

const (
	defaultLimit = 200
	defaultChunk = 20_000
	// leafRows is the number of rows below which a range is not halved but
	// read, key by key.
	leafRows = 256
)

// Compare compares the rows of two tables, byte by byte, in every column that
// both have. Rows are hashed where they are: what travels is one digest per
// chunk, and the rows that differ. Nobody may write to the tables meanwhile.
//
// Rows are matched by the primary key. If the two have not the same one, or
// none, they are compared as bags of rows, in which a row may stand twice.
func Compare(ctx context.Context, want, got Side, o Options) (history.Comparison, error) {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	if o.ChunkSize == 0 {
		o.ChunkSize = defaultChunk
	}
	w, doneWant, err := open(ctx, want)
	if err != nil {
		return history.Comparison{}, err
	}
	defer doneWant()
	g, doneGot, err := open(ctx, got)
	if err != nil {
		return history.Comparison{}, err
	}
	defer doneGot()

	c := &comparer{want: w, got: g, options: o, exclude: map[history.Key]bool{}}
	for _, k := range o.Exclude {
		c.exclude[k] = true
	}
	c.result.Against = want.Table.String()
	c.result.Excluded = o.Exclude
	for _, column := range w.def.Columns {
		if _, ok := g.def.column(column.Name); ok {
			c.common = append(c.common, column.Name)
		}
	}
	c.want.hash, c.got.hash = c.want.hashOf(c.common), c.got.hashOf(c.common)
	if sameKey(w.key, g.key) {
		err = c.byKey(ctx)
	} else {
		err = c.byHash(ctx)
	}
	if err != nil {
		return history.Comparison{}, fmt.Errorf("compare %s with %s: %w", got.Table, want.Table, err)
	}
	c.result.Done = true
	return c.result, nil
}

// side is one table with a session to read it by.
type side struct {
	conn  *sql.Conn
	table TableRef
	def   Definition
	key   []Column
	hash  string // the SQL expression that hashes a row
}

func open(ctx context.Context, s Side) (side, func(), error) {
	conn, done, err := session(ctx, s.DB)
	if err != nil {
		return side{}, nil, err
	}
	def, err := describe(ctx, conn, s.Table)
	if err != nil {
		done()
		return side{}, nil, err
	}
	return side{conn: conn, table: s.Table, def: def, key: def.key()}, done, nil
}

// hashOf hashes the columns in the given order, each read by its own type on
// this side.
func (s side) hashOf(names []string) string {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i], _ = s.def.column(name)
	}
	return rowHash(columns)
}

// sameKey reports whether rows can be matched by key: both sides order and
// tell keys apart in the same way.
func sameKey(a, b []Column) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y Column) bool {
		return x.Name == y.Name && x.FullType == y.FullType && x.Collation == y.Collation
	})
}

type comparer struct {
	want, got side
	common    []string // columns of both, in the order of want
	options   Options
	exclude   map[history.Key]bool
	result    history.Comparison
}

// byKey walks through the key space in chunks that are found on the want side.
// The first is open below and the last above, so every row of the other side
// is in one, whatever its key.
func (c *comparer) byKey(ctx context.Context) error {
	for r := (keyRange{}); ; r.after = r.upTo {
		var err error
		if r.upTo, err = c.want.nth(ctx, keyRange{after: r.after}, c.options.ChunkSize-1); err != nil {
			return err
		}
		want, got, err := c.digests(ctx, r)
		if err != nil {
			return err
		}
		c.result.Chunks++
		c.result.Rows += want.count
		c.result.FinalRows += got.count
		if want != got {
			if err := c.drill(ctx, r, want, got); err != nil {
				return err
			}
		}
		if r.upTo == nil {
			return nil
		}
	}
}

// digests reads both sides at once.
func (c *comparer) digests(ctx context.Context, r keyRange) (want, got digest, err error) {
	var wantErr error
	var wg sync.WaitGroup
	wg.Go(func() { want, wantErr = c.want.digest(ctx, r.where(c.want.key)) })
	got, err = c.got.digest(ctx, r.where(c.got.key))
	wg.Wait()
	if wantErr != nil {
		err = wantErr
	}
	return want, got, err
}

// drill halves a range that differs until it is small enough to read.
func (c *comparer) drill(ctx context.Context, r keyRange, want, got digest) error {
	if c.result.Truncated {
		return nil
	}
	if max(want.count, got.count) <= leafRows {
		return c.leaf(ctx, r)
	}
	larger, rows := c.want, want.count
	if got.count > want.count {
		larger, rows = c.got, got.count
	}
	middle, err := larger.nth(ctx, r, rows/2-1)
	if err != nil {
		return err
	}
	for _, half := range []keyRange{{r.after, middle}, {middle, r.upTo}} {
		want, got, err := c.digests(ctx, half)
		if err != nil {
			return err
		}
		if want != got {
			if err := c.drill(ctx, half, want, got); err != nil {
				return err
			}
		}
	}
	return nil
}

// report adds a differing row, unless it may differ or there are too many.
func (c *comparer) report(d history.RowDiff) {
	if c.exclude[d.Key] {
		return
	}
	if len(c.result.Diffs) == c.options.Limit {
		c.result.Truncated = true
		return
	}
	c.result.Diffs = append(c.result.Diffs, d)
}
