package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// byHash compares two tables as bags of rows: without a key that both share, a
// row is known by its hash alone. Rows fall into buckets by the first digits
// of their hash; the buckets that differ are read hash by hash.
func (c *comparer) byHash(ctx context.Context) error {
	want, err := c.want.buckets(ctx)
	if err != nil {
		return err
	}
	got, err := c.got.buckets(ctx)
	if err != nil {
		return err
	}
	both := map[string]bool{}
	for b, d := range want {
		both[b] = true
		c.result.Rows += d.count
	}
	for b, d := range got {
		both[b] = true
		c.result.FinalRows += d.count
	}
	c.result.Chunks = len(both)
	for _, b := range slices.Sorted(maps.Keys(both)) {
		if want[b] != got[b] && !c.result.Truncated {
			if err := c.bucket(ctx, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// buckets reads the digest of every bucket.
func (s side) buckets(ctx context.Context) (map[string]digest, error) {
	all := map[string]digest{}
	err := query(ctx, s.conn, "SELECT COALESCE(LEFT(h, 2), ''), "+digestColumns+" FROM (SELECT "+s.hash+" AS h FROM "+s.table.Quoted()+") AS r GROUP BY 1",
		func(row []*string) error {
			n, err := strconv.ParseInt(*row[1], 10, 64)
			if err != nil {
				return err
			}
			if *row[2] != *row[1] {
				return fmt.Errorf("hash rows of %s: some are too long for the server's max_allowed_packet", s.table)
			}
			all[*row[0]] = digest{count: n, xor: *row[3], sum: *row[4]}
			return nil
		})
	return all, err
}

// bucket reports the rows of a bucket that stand more or less often than they
// should.
func (c *comparer) bucket(ctx context.Context, b string) error {
	want, err := c.want.counts(ctx, b)
	if err != nil {
		return err
	}
	got, err := c.got.counts(ctx, b)
	if err != nil {
		return err
	}
	var fewer, more []string
	for h, n := range want {
		if got[h] < n {
			fewer = append(fewer, h)
		}
	}
	for h, n := range got {
		if n > want[h] {
			more = append(more, h)
		}
	}
	lost, err := c.want.byHashes(ctx, fewer, c.options.Limit)
	if err != nil {
		return err
	}
	for _, h := range slices.Sorted(maps.Keys(lost)) {
		c.report(history.RowDiff{Key: nameless(h), Want: lost[h]})
	}
	extra, err := c.got.byHashes(ctx, more, c.options.Limit)
	if err != nil {
		return err
	}
	for _, h := range slices.Sorted(maps.Keys(extra)) {
		d := history.RowDiff{Key: nameless(h), Got: extra[h]}
		if want[h] > 0 {
			d.Want = extra[h] // the same bytes, but not as often
		}
		if got[h] > 1 {
			d.Count = got[h]
		}
		c.report(d)
	}
	return nil
}

// nameless names a row without a key, by its hash.
func nameless(hash string) history.Key { return history.Key("#" + hash[:12]) }

// counts reads how often each row of a bucket stands.
func (s side) counts(ctx context.Context, b string) (map[string]int64, error) {
	all := map[string]int64{}
	err := query(ctx, s.conn, "SELECT h, COUNT(*) FROM (SELECT "+s.hash+" AS h FROM "+s.table.Quoted()+") AS r WHERE LEFT(h, 2) = "+text(b)+" GROUP BY h",
		func(row []*string) error {
			n, err := strconv.ParseInt(*row[1], 10, 64)
			all[*row[0]] = n
			return err
		})
	return all, err
}

// byHashes reads the rows with these hashes, each once, in one scan.
func (s side) byHashes(ctx context.Context, hashes []string, limit int) (map[string]history.Row, error) {
	found := map[string]history.Row{}
	if len(hashes) == 0 {
		return found, nil
	}
	slices.Sort(hashes)
	hashes = hashes[:min(len(hashes), limit+1)] // one more, to notice the truncation
	quoted := make([]string, len(hashes))
	for i, h := range hashes {
		quoted[i] = text(h)
	}
	err := s.rows(ctx, s.hash+" IN ("+strings.Join(quoted, ", ")+")", s.hash, func(h string, row history.Row, _ map[string]string) {
		found[h] = row
	})
	return found, err
}
