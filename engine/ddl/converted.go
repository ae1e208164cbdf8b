package ddl

import (
	"strconv"
	"strings"
)

// The statements below compare the columns for which CompareExprs knows no
// expression. As with a probe (probe.go), the server converts the original's
// values into a temporary table; what it holds then must be what the shadow
// holds.

// ConvertedCreate makes an empty table for the key and the columns that only
// the server can convert.
func (p Plan) ConvertedCreate(table string) string {
	var columns, key []string
	for _, k := range p.Key.Pairs {
		columns = append(columns, k.Shadow.definition())
		key = append(key, k.Shadow.Quoted())
	}
	for _, c := range p.uncompared() {
		columns = append(columns, c.Shadow.definition())
	}
	return "CREATE TEMPORARY TABLE " + table + " (" + strings.Join(columns, ", ") +
		", PRIMARY KEY (" + strings.Join(key, ", ") + ")) ENGINE=InnoDB"
}

// ConvertedFill has the server convert the rows that the condition on the
// original picks.
func (p Plan) ConvertedFill(table, where string, lock bool) string {
	var columns, values []string
	for _, pair := range append(p.Key.Pairs[:len(p.Key.Pairs):len(p.Key.Pairs)], p.uncompared()...) {
		columns = append(columns, pair.Shadow.Name)
		values = append(values, pair.selectExpr())
	}
	return "INSERT INTO " + table + " (" + quoteIdents(columns) + ") SELECT " + strings.Join(values, ", ") +
		p.from() + " WHERE " + where + locking(lock)
}

// ConvertedDifferences reads the keys of the rows that the shadow has as well,
// but with other values, and behind the key the columns that differ, as
// Differences does.
func (p Plan) ConvertedDifferences(table string, lock bool) string {
	var inner, on, differ, names []string
	for _, k := range p.Key.Pairs {
		x, s := "x."+k.Shadow.Quoted(), "s."+k.Shadow.Quoted()
		inner = append(inner, toOriginal(k, x)+" AS "+k.Original.Quoted())
		on = append(on, s+" = "+x)
	}
	for i, c := range p.uncompared() {
		n := strconv.Itoa(i)
		inner = append(inner, canonical(c.Shadow, "x."+c.Shadow.Quoted())+" AS `osc c"+n+"`",
			canonical(c.Shadow, "s."+c.Shadow.Quoted())+" AS `osc s"+n+"`")
		unequal := "NOT `osc c" + n + "` <=> `osc s" + n + "`"
		differ = append(differ, unequal)
		names = append(names, "IF("+unequal+", "+QuoteString(c.Shadow.Name)+", NULL)")
	}
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + ", CONCAT_WS(', ', " + strings.Join(names, ", ") + ")" +
		" FROM (SELECT " + strings.Join(inner, ", ") + " FROM " + table + " AS x JOIN " + p.Shadow.Name.Quoted() + " AS s" +
		" ON " + strings.Join(on, " AND ") + locking(lock) + ") AS d WHERE " + strings.Join(differ, " OR ")
}

// NeedsConverting tells whether there are columns to compare in this way.
func (p Plan) NeedsConverting() bool { return len(p.uncompared()) > 0 }

// uncompared are the pairs that Differences and Digests leave out.
func (p Plan) uncompared() []Pair {
	var pairs []Pair
	for _, pair := range p.Mapping.Pairs {
		if _, _, ok := CompareExprs(pair); !ok {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// definition is the column as part of a CREATE TABLE, with all that decides
// how a value is converted into it.
func (c Column) definition() string {
	text := c.Quoted() + " " + c.ColumnType
	if c.Collation != "" {
		text += " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
	}
	if !c.Nullable {
		return text + " NOT NULL"
	}
	return text + " NULL" // a TIMESTAMP would be NOT NULL on some servers
}

// TrialCreate makes an empty table with one column of the shadow, and
// TrialFill converts one row's value into it: if that fails, it is this column
// that can't hold the row's value.
func (p Pair) TrialCreate(table string) string {
	return "CREATE TEMPORARY TABLE " + table + " (" + p.Shadow.definition() + ") ENGINE=InnoDB"
}

// TrialFill goes with TrialCreate.
func (p Plan) TrialFill(table string, pair Pair, key Tuple) string {
	return "INSERT INTO " + table + " (" + pair.Shadow.Quoted() + ") SELECT " + pair.selectExpr() + p.from() +
		" WHERE " + p.Key.In([]Tuple{key})
}
