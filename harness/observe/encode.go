package observe

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// isText reports a column of characters.
func (c Column) isText() bool { return c.Charset != "" && !c.isLabel() && c.Type != "json" }

// isLabel reports a column that stores a number and shows a word.
func (c Column) isLabel() bool { return c.Type == "enum" || c.Type == "set" }

// isBinary reports a column whose bytes are not characters.
func (c Column) isBinary() bool {
	switch c.Type {
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector",
		"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
		"geomcollection", "geometrycollection":
		return true
	}
	return false
}

// isLong reports a column whose values can be too long to join into one
// string, which the server limits to max_allowed_packet.
func (c Column) isLong() bool {
	return strings.HasSuffix(c.Type, "text") || strings.HasSuffix(c.Type, "blob") || c.Type == "json" ||
		c.Type == "vector" || c.isBinary() && !strings.HasSuffix(c.Type, "binary")
}

// bytes returns an SQL expression for all that a value is, as bytes; NULL for
// NULL. Two values of one column are the same if and only if their bytes are.
func (c Column) bytes() string {
	x := quote(c.Name)
	switch {
	case c.Type == "float" || c.Type == "double":
		// As a FLOAT it would be shown with six digits. A DOUBLE is shown with
		// as many as it takes to tell it from every other one, -0 included.
		return "CAST(CAST(" + x + " AS DOUBLE) AS BINARY)"
	case c.isLabel():
		// The number too: the word of ENUM's error value 0 is '', which can
		// also be a proper member.
		return "CAST(CONCAT(CAST(" + x + " AS UNSIGNED), ':', " + x + ") AS BINARY)"
	case c.Type == "json":
		// The text shows 1.0 for a DOUBLE and for a DECIMAL, and a string for
		// a DATETIME; the types of all elements, in the order in which the
		// document is walked, tell them apart.
		return "CAST(CONCAT(" + x + ", '|', JSON_TYPE(" + x + "), '|', " + jsonTypes(x, "$**.*") + ", '|', " + jsonTypes(x, "$**[*]") + ") AS BINARY)"
	default:
		return "CAST(" + x + " AS BINARY)"
	}
}

func jsonTypes(x, path string) string {
	return "COALESCE((SELECT GROUP_CONCAT(JSON_TYPE(v) ORDER BY o) FROM JSON_TABLE(" + x + ", '" + path + "' COLUMNS (o FOR ORDINALITY, v JSON PATH '$')) AS j), '')"
}

// piece returns an SQL expression that encodes the value as a part of a row:
// pieces can be joined without two different rows becoming the same. A length
// comes before the bytes, so ('x0','y') is not ('x','0y'), and N is NULL.
func (c Column) piece() string {
	b := c.bytes()
	if c.isLong() {
		return "IFNULL(SHA2(" + b + ", 256), 'N')"
	}
	return "IFNULL(CONCAT(LENGTH(" + b + "), ':', " + b + "), 'N')"
}

// rowHash returns an SQL expression for the hash of the columns, 64 hex
// digits, or NULL if the row is too long for the server to join.
func rowHash(columns []Column) string {
	pieces := make([]string, len(columns))
	for i, c := range columns {
		pieces[i] = c.piece()
	}
	return "SHA2(CONCAT(" + strings.Join(pieces, ", ") + "), 256)"
}

// shown returns an SQL expression for the value as people read it; decodeShown
// completes it.
func (c Column) shown() string {
	x := quote(c.Name)
	switch {
	case c.isBinary():
		return "HEX(" + x + ")"
	case c.Type == "bit":
		return "CAST(CAST(" + x + " AS UNSIGNED) AS CHAR)"
	default:
		return "CAST(" + x + " AS CHAR CHARACTER SET utf8mb4)"
	}
}

func (c Column) decodeShown(v *string) (*string, error) {
	if v == nil || !c.isBinary() {
		return v, nil
	}
	b, err := hex.DecodeString(*v)
	if err != nil {
		return nil, fmt.Errorf("decode column %s: %w", c.Name, err)
	}
	return history.Text(Text(string(b))), nil
}

// identity returns an SQL expression that is equal for two keys if and only if
// the server holds them for the same key: 'a' and 'A' under many collations.
func (c Column) identity() string {
	if !c.isText() {
		return "HEX(" + c.bytes() + ")"
	}
	x := quote(c.Name)
	if c.Pads {
		x = "TRIM(TRAILING ' ' FROM " + x + ")"
	}
	return "HEX(WEIGHT_STRING(" + x + "))"
}

// literalBytes returns the expression whose hex digits literal needs.
func (c Column) literalBytes() string {
	if c.isLabel() {
		return "CAST(CAST(" + quote(c.Name) + " AS UNSIGNED) AS BINARY)"
	}
	if c.Type == "bit" {
		return "CAST(CAST(" + quote(c.Name) + " AS UNSIGNED) AS BINARY)"
	}
	return c.bytes()
}

// literal returns a literal that compares to the column as the value with
// these literalBytes does.
func (c Column) literal(hexBytes string) (string, error) {
	if c.isBinary() {
		return "X'" + hexBytes + "'", nil
	}
	if c.isText() {
		return "_" + c.Charset + " X'" + hexBytes + "' COLLATE " + c.Collation, nil
	}
	b, err := hex.DecodeString(hexBytes)
	if err != nil {
		return "", fmt.Errorf("decode column %s: %w", c.Name, err)
	}
	return c.plainLiteral(string(b)), nil
}

// plainLiteral writes a value that is neither text nor bytes.
func (c Column) plainLiteral(s string) string {
	switch c.Type {
	case "float", "double":
		if !strings.ContainsAny(s, "eE") {
			s += "e0" // a DOUBLE, not a DECIMAL
		}
		return s
	case "date", "datetime", "timestamp", "time", "json":
		return text(s)
	}
	return s
}

// textLiteral returns a literal for a value as a history.Key shows it.
func (c Column) textLiteral(s string) string {
	switch {
	case c.isBinary():
		if digits, ok := strings.CutPrefix(s, "0x"); ok {
			if b, err := hex.DecodeString(digits); err == nil {
				s = string(b)
			}
		}
		return fmt.Sprintf("X'%X'", s)
	case c.isText() || c.isLabel():
		return text(s)
	}
	// A number or a time. Anything else is quoted, for the server to judge.
	if _, err := strconv.ParseFloat(s, 64); err != nil || c.Type == "year" {
		return text(s)
	}
	if c.Type == "float" {
		// The column holds the nearest FLOAT, which is another DOUBLE.
		return "CAST(" + s + " AS FLOAT)"
	}
	return c.plainLiteral(s)
}
