package ddl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The statements below settle a conflict under a unique key that the ALTER
// adds or tightens. They work through a probe: a temporary table with the
// shadow's columns and unique keys, into which the server converts the
// original's rows in question, so that their unique values can be compared as
// the new definition has them.

// ProbeCreate makes the empty probe for a session. CREATE TABLE LIKE would do
// but for what a temporary table can't have: partitions, FULLTEXT and SPATIAL
// indexes, a tablespace, compression.
func (p Plan) ProbeCreate(probe string) string {
	text := strings.TrimPrefix(p.Shadow.CreateSQL, "CREATE TABLE "+QuoteIdent(p.Shadow.Name.Name)+" (\n")
	var items []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ")") {
			break
		}
		item := strings.TrimSuffix(strings.TrimSpace(line), ",")
		// The server writes one column, key or constraint a line.
		if !hasAnyPrefix(item, "FULLTEXT KEY", "SPATIAL KEY", "CONSTRAINT") {
			items = append(items, item)
		}
	}
	charset := ""
	if found := tableCharset.FindString(text); found != "" {
		charset = " " + found
	}
	return "CREATE TEMPORARY TABLE IF NOT EXISTS " + probe + " (" + strings.Join(items, ", ") + ") ENGINE=InnoDB" + charset
}

// tableCharset is the first of a table's options that say how columns are
// encoded which name no character set of their own.
var tableCharset = regexp.MustCompile(`DEFAULT CHARSET=\w+( COLLATE=\w+)?`)

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// ProbeFill puts the present rows of these keys into the probe, under locks.
// It fails as a duplicate if two of them collide: then the original itself
// holds the value twice.
func (p Plan) ProbeFill(probe string, keys []Tuple) string {
	return p.into(Insert, probe, p.Key.In(keys))
}

// ProbeHolders reads the keys of the original's rows whose shadow rows hold
// a unique value of the probe.
func (p Plan) ProbeHolders(probe string, u UniqueKey) string {
	var inner []string
	for _, k := range p.Key.Pairs {
		inner = append(inner, toOriginal(k, "s."+k.Shadow.Quoted()))
	}
	left := strings.Join(p.Key.original(), ", ")
	if len(p.Key.Pairs) > 1 {
		left = "(" + left + ")"
	}
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + " FROM " + p.Original.Name.Quoted() +
		" WHERE " + left + " IN (SELECT " + strings.Join(inner, ", ") + p.collision(probe, u) + ")"
}

// ProbeDelete removes the shadow rows that hold a unique value of the probe.
func (p Plan) ProbeDelete(probe string, u UniqueKey) string {
	return "DELETE s" + p.collision(probe, u)
}

func (p Plan) collision(probe string, u UniqueKey) string {
	var on []string
	for _, part := range u.Key.Parts {
		s, x := "s."+QuoteIdent(part.Column), "x."+QuoteIdent(part.Column)
		if part.Prefix > 0 {
			// SUB_PART counts characters of text and bytes of binary columns,
			// as LEFT does.
			n := ", " + strconv.Itoa(part.Prefix) + ")"
			s, x = "LEFT("+s+n, "LEFT("+x+n
		}
		on = append(on, s+" = "+x)
	}
	return " FROM " + p.Shadow.Name.Quoted() + " AS s JOIN " + probe + " AS x ON " + strings.Join(on, " AND ")
}

// refuseExpressions refuses a unique key over an expression that the
// original's rows may violate: which rows collide could not be found out.
func (p Plan) refuseExpressions() error {
	for _, u := range p.Duplicable {
		if hasExpression(u.Key) {
			return &Refusal{What: "unique key " + QuoteIdent(u.Key.Name), Why: "it is over an expression, and rows may collide under it",
				Do: "add a generated column with that expression and put the unique key on it"}
		}
	}
	return nil
}
