package script

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// checkRows finds writes of faults that would meet no row, or one too many:
// they would do nothing, and the ledger would not know.
func (r *reader) checkRows(table fixtures.Table) {
	comes, goes := map[history.Key]bool{}, map[history.Key]bool{}
	for _, c := range r.changes {
		switch c.Kind {
		case history.Insert:
			comes[c.Key] = true
		case history.Delete:
			goes[c.Key] = true
		case history.Move:
			comes[c.NewKey], goes[c.Key] = true, true
		}
	}
	for _, c := range r.changes {
		switch seeded := hasRow(table, c.Key); {
		case c.Kind == history.Insert && seeded && !goes[c.Key]:
			r.problem(c.at, "row %s is there already: it is one of the seed rows", c.Key)
		case c.Kind != history.Insert && !seeded && !comes[c.Key]:
			r.problem(c.at, "row %s is not there: no seed row and no INSERT has this key", c.Key)
		}
	}
}

// placedChange is a change and where it stands in the file.
type placedChange struct {
	history.Change
	at hcl.Pos
}

func hasRow(t fixtures.Table, key history.Key) bool {
	if t.Keys != nil || t.Rows == 0 {
		return slices.Contains(t.Keys, string(key))
	}
	n, err := strconv.ParseInt(string(key), 10, 64)
	return err == nil && n >= 1 && n <= t.Rows && t.KeyAt(n) == string(key)
}
