package ddl

import "strings"

// TableName is a table's full name, as the server spells it.
type TableName struct {
	Schema string
	Name   string
}

// Quoted is the name for SQL.
func (n TableName) Quoted() string { return QuoteIdent(n.Schema) + "." + QuoteIdent(n.Name) }

// String is the name for messages.
func (n TableName) String() string { return n.Schema + "." + n.Name }

// Table is a table's definition as information_schema shows it.
type Table struct {
	Name      TableName
	Columns   []Column // by ORDINAL_POSITION
	Keys      []Key    // the primary key first, if there is one
	CreateSQL string   // SHOW CREATE TABLE
}

// Column finds a column by name. Letter case doesn't matter, as in MySQL.
func (t Table) Column(name string) (Column, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return Column{}, false
}

// PrimaryKey is the table's primary key, if it has one.
func (t Table) PrimaryKey() (Key, bool) {
	for _, k := range t.Keys {
		if k.Primary {
			return k, true
		}
	}
	return Key{}, false
}

// Key is one index, from information_schema.STATISTICS.
type Key struct {
	Name    string
	Parts   []KeyPart // by SEQ_IN_INDEX
	Unique  bool
	Primary bool
	Type    string // INDEX_TYPE: BTREE, FULLTEXT, SPATIAL
}

// KeyPart is one column or expression of an index.
type KeyPart struct {
	Column string // empty for an expression
	Prefix int    // SUB_PART; 0 is the whole column
	Expr   string // EXPRESSION
	Desc   bool   // COLLATION is D
}
