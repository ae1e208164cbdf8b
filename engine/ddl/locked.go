package ddl

import "strings"

const forShare = " FOR SHARE"

// NoWait makes a statement of Apply fail at once where it would wait for a
// row of the original that somebody has locked. Other statements it leaves
// as they are.
func NoWait(statement string) string {
	if strings.HasSuffix(statement, forShare) {
		return statement + " NOWAIT"
	}
	return statement
}

// SkipLocked makes a query pass over rows that somebody has locked.
func SkipLocked(query string) string { return query + forShare + " SKIP LOCKED" }

// ReadKeys reads those of the keys that the original has, for BorderTuple.
func (p Plan) ReadKeys(keys []Tuple) string {
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + p.from() + " WHERE " + p.Key.In(keys)
}

// Portion is how many of the keys go into one statement: at most so many,
// with about so many bytes of text.
func Portion(keys []Tuple, most, text int) int {
	n := 0
	for n < min(most, len(keys)) && (n == 0 || text > 0) {
		for _, literal := range keys[n] {
			text -= len(literal)
		}
		n++
	}
	return n
}
