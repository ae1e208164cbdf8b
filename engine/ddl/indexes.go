package ddl

import "strings"

// Index is a secondary index as SHOW CREATE TABLE has it.
type Index struct {
	Name       string
	Definition string // KEY `k` (`a`,`b`)
}

// Deferrable returns the secondary indexes that a table can do without while
// it is filled: plain, not unique ones. A unique key must be there from the
// first row, to find duplicates; and an AUTO_INCREMENT column must be the
// first of some index at all times.
//
// They come in the order of the definition, in which they are added again. An
// index that stays keeps its place only if none before it goes, so then those
// stay too.
func Deferrable(t Table) []Index {
	var list []Index
	for line := range strings.Lines(t.CreateSQL) {
		switch k, plain := plainKey(t, line); {
		case strings.HasPrefix(line, "  SPATIAL KEY "), plain && (numbers(t, k) || hasExpression(k)):
			list = nil
		case plain:
			list = append(list, Index{Name: k.Name, Definition: strings.TrimSuffix(strings.TrimSpace(line), ",")})
		}
	}
	return list
}

// plainKey returns the key that a line of SHOW CREATE TABLE defines, if it is
// a plain one. The layout is one line for each.
func plainKey(t Table, line string) (Key, bool) {
	for _, k := range t.Keys {
		if !k.Unique && k.Type == "BTREE" && strings.HasPrefix(line, "  KEY "+QuoteIdent(k.Name)+" ") {
			return k, true
		}
	}
	return Key{}, false
}

// numbers tells whether an index starts with the AUTO_INCREMENT column.
func numbers(t Table, k Key) bool {
	c, ok := t.Column(k.Parts[0].Column)
	return ok && c.AutoIncrement()
}

func hasExpression(k Key) bool {
	for _, part := range k.Parts {
		if part.Expr != "" {
			return true
		}
	}
	return false
}

// DropIndexes removes the indexes from a table.
func DropIndexes(t TableName, list []Index) string {
	clauses := make([]string, len(list))
	for i, index := range list {
		clauses[i] = "DROP KEY " + QuoteIdent(index.Name)
	}
	return "ALTER TABLE " + t.Quoted() + " " + strings.Join(clauses, ", ")
}

// AddIndexes adds the indexes to a table, all in one pass over its rows and
// while it is written.
func AddIndexes(t TableName, list []Index) string {
	clauses := make([]string, len(list))
	for i, index := range list {
		clauses[i] = "ADD " + index.Definition
	}
	return "ALTER TABLE " + t.Quoted() + " " + strings.Join(clauses, ", ") + ", ALGORITHM=INPLACE, LOCK=NONE"
}
