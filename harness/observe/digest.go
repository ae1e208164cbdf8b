package observe

import (
	"context"
	"fmt"
)

// digest stands for a bag of rows. Equal bags have equal digests. Different
// bags have different ones, but for the odds of a collision: the exclusive-or
// keeps 256 bits of the rows' hashes, and the sum, which an exclusive-or is
// blind to, sees a row that stands twice in place of another that does.
type digest struct {
	count int64
	xor   string
	sum   string
}

const digestColumns = "COUNT(*), COUNT(h), COALESCE(HEX(BIT_XOR(UNHEX(h))), ''), COALESCE(SUM(CAST(CONV(LEFT(h, 15), 16, 10) AS UNSIGNED)), 0)"

// digest reads the digest of the rows that satisfy a condition.
func (s side) digest(ctx context.Context, where string) (digest, error) {
	index := ""
	if len(s.key) > 0 {
		index = " FORCE INDEX (PRIMARY)"
	}
	var d digest
	var hashed int64
	statement := "SELECT " + digestColumns + " FROM (SELECT " + s.hash + " AS h FROM " + s.table.Quoted() + index + " WHERE " + where + ") AS r"
	if err := s.conn.QueryRowContext(ctx, statement).Scan(&d.count, &hashed, &d.xor, &d.sum); err != nil {
		return d, fmt.Errorf("hash rows of %s: %w", s.table, err)
	}
	if hashed != d.count {
		return d, fmt.Errorf("hash rows of %s: %d rows are too long for the server's max_allowed_packet", s.table, d.count-hashed)
	}
	return d, nil
}
