package ddl

import (
	"strconv"
	"strings"
)

// Column is one row of information_schema.COLUMNS, verbatim: NULL text is "".
type Column struct {
	Name       string
	Position   int    // ORDINAL_POSITION, from 1; a binlog row image holds it at Position-1
	DataType   string // DATA_TYPE
	ColumnType string // COLUMN_TYPE
	Charset    string // CHARACTER_SET_NAME
	Collation  string // COLLATION_NAME
	Nullable   bool
	Default    *string // COLUMN_DEFAULT
	Extra      string  // EXTRA
	Expression string  // GENERATION_EXPRESSION
}

// Generation says whether a column's value is computed.
type Generation int

// The three ways a column gets its value.
const (
	Plain Generation = iota
	Virtual
	Stored
)

// Quoted is the column's name for SQL.
func (c Column) Quoted() string { return QuoteIdent(c.Name) }

// Generation tells a plain column from a generated one. EXTRA of a plain
// column with an expression default reads DEFAULT_GENERATED.
func (c Column) Generation() Generation {
	extra := strings.ToUpper(c.Extra)
	switch {
	case strings.Contains(extra, "VIRTUAL GENERATED"):
		return Virtual
	case strings.Contains(extra, "STORED GENERATED"):
		return Stored
	}
	return Plain
}

// AutoIncrement tells whether the server numbers the column.
func (c Column) AutoIncrement() bool {
	return strings.Contains(strings.ToLower(c.Extra), "auto_increment")
}

// Invisible tells whether SELECT * leaves the column out.
func (c Column) Invisible() bool { return strings.Contains(strings.ToUpper(c.Extra), "INVISIBLE") }

// HasDefault tells whether an INSERT may leave the column out.
func (c Column) HasDefault() bool {
	return c.Nullable || c.Default != nil || c.AutoIncrement() || c.Generation() != Plain ||
		strings.Contains(strings.ToUpper(c.Extra), "DEFAULT_GENERATED")
}

// Unsigned tells whether a number has no sign.
func (c Column) Unsigned() bool { return strings.Contains(c.attributes(), " unsigned") }

// Length is the number in the type's parentheses: characters, bytes, bits or
// decimal digits; 0 if there is none.
func (c Column) Length() int { return c.number(0) }

// Scale is the number of digits after the point of a DECIMAL.
func (c Column) Scale() int { return c.number(1) }

// Fraction is the number of digits of a second's fraction.
func (c Column) Fraction() int { return c.number(0) }

// attributes is what follows the type's name and parentheses.
func (c Column) attributes() string {
	if i := strings.LastIndexByte(c.ColumnType, ')'); i >= 0 {
		return strings.ToLower(c.ColumnType[i+1:])
	}
	if i := strings.IndexByte(c.ColumnType, ' '); i >= 0 {
		return strings.ToLower(c.ColumnType[i:])
	}
	return ""
}

func (c Column) number(i int) int {
	open, end := strings.IndexByte(c.ColumnType, '('), strings.LastIndexByte(c.ColumnType, ')')
	if open < 0 || end < open {
		return 0
	}
	parts := strings.Split(c.ColumnType[open+1:end], ",")
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
	if err != nil {
		return 0 // the members of an ENUM or SET
	}
	return n
}

// Members are the names of an ENUM or SET in the order of their numbers.
func (c Column) Members() []string {
	if c.DataType != "enum" && c.DataType != "set" {
		return nil
	}
	var members []string
	var member strings.Builder
	quoted := false
	for i := 0; i < len(c.ColumnType); i++ {
		b := c.ColumnType[i]
		switch {
		case b != '\'' && quoted:
			member.WriteByte(b)
		case b != '\'':
		case quoted && i+1 < len(c.ColumnType) && c.ColumnType[i+1] == '\'':
			member.WriteByte('\'')
			i++
		case quoted:
			members = append(members, member.String())
			member.Reset()
			quoted = false
		default:
			quoted = true
		}
	}
	return members
}

// kind groups the types that travel and compare alike.
type kind int

const (
	kindOther kind = iota
	kindInt
	kindDecimal
	kindFloat
	kindBit
	kindYear
	kindChar   // CHAR, VARCHAR and the TEXTs
	kindBinary // BINARY, VARBINARY and the BLOBs
	kindEnum
	kindSet
	kindDate
	kindTime
	kindDatetime
	kindTimestamp
	kindJSON
	kindSpatial
	kindVector
)

func (c Column) kind() kind {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return kindInt
	case "decimal":
		return kindDecimal
	case "float", "double":
		return kindFloat
	case "bit":
		return kindBit
	case "year":
		return kindYear
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return kindChar
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return kindBinary
	case "enum":
		return kindEnum
	case "set":
		return kindSet
	case "date":
		return kindDate
	case "time":
		return kindTime
	case "datetime":
		return kindDatetime
	case "timestamp":
		return kindTimestamp
	case "json":
		return kindJSON
	case "vector":
		return kindVector
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
		"multipolygon", "geomcollection", "geometrycollection":
		return kindSpatial
	}
	return kindOther
}

// intBits is the width of an integer type.
func (c Column) intBits() int {
	switch c.DataType {
	case "tinyint":
		return 8
	case "smallint":
		return 16
	case "mediumint":
		return 24
	case "int":
		return 32
	}
	return 64
}

// sameType tells whether both columns hold a value in the same way, so that
// copying changes no byte of it.
func sameType(a, b Column) bool {
	return a.ColumnType == b.ColumnType && a.Charset == b.Charset && a.Collation == b.Collation
}
