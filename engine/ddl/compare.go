package ddl

import (
	"fmt"
	"strconv"
)

// CompareExprs gives one expression over the original's column and one over
// the shadow's. Both yield a binary string or NULL, and they are equal exactly
// when the shadow holds what MySQL's own ALTER would have made of the value,
// for values that the ALTER accepts. ok is false where no expression converts
// as ALTER does: the caller must let the server convert the value into a
// column of the shadow's type and compare that.
func CompareExprs(p Pair) (original, shadow string, ok bool) {
	o, s := p.Original, p.Shadow
	if sameType(o, s) {
		return canonical(o, o.Quoted()), canonical(s, s.Quoted()), true
	}
	if o.kind() == kindTimestamp && s.kind() == kindTimestamp {
		moment := fmt.Sprintf("CAST(UNIX_TIMESTAMP(%s) AS DECIMAL(20,%d))", o.Quoted(), s.Fraction())
		return binary(moment), canonical(s, s.Quoted()), true
	}
	converted, ok := convert(p)
	if !ok {
		return "", "", false
	}
	if s.kind() == kindTimestamp {
		return binary(converted), binary(s.Quoted()), true // both in the session's zone
	}
	return canonical(s, converted), canonical(s, s.Quoted()), true
}

// canonical writes a value of the column's type as bytes that name it and no
// other value.
func canonical(c Column, expr string) string {
	switch c.kind() {
	case kindFloat:
		return binary("CAST(" + expr + " AS DOUBLE)") // FLOAT as text has six digits
	case kindInt, kindDecimal, kindBit, kindEnum, kindSet, kindYear:
		return binary(expr + " + 0") // without ZEROFILL's zeros; BIT as a number
	case kindTimestamp:
		return binary("UNIX_TIMESTAMP(" + expr + ")") // the same in every zone
	case kindJSON:
		// The text alone doesn't tell a DECIMAL from a DOUBLE, nor a DATETIME
		// from a string: their sizes do. The array makes the server build the
		// value anew, without the gaps that partial updates leave in a column.
		return binary("CONCAT(CAST(" + expr + " AS CHAR), ' ', JSON_STORAGE_SIZE(JSON_ARRAY(" + expr + ")))")
	}
	return binary(expr)
}

func binary(expr string) string { return "CAST(" + expr + " AS BINARY)" }

// convert writes the original's value as an expression of the shadow's type.
func convert(p Pair) (string, bool) {
	o, s := p.Original, p.Shadow
	q := o.Quoted()
	switch s.kind() {
	case kindInt:
		return toInt(o, q)
	case kindDecimal:
		if o.kind() == kindInt || o.kind() == kindDecimal {
			return fmt.Sprintf("CAST(%s AS DECIMAL(%d,%d))", q, s.Length(), s.Scale()), true
		}
	case kindFloat:
		return toFloat(o, s, q)
	case kindBit:
		if o.kind() == kindBit || o.kind() == kindInt && o.Unsigned() {
			return q, true
		}
	case kindChar:
		return toText(o, s, q)
	case kindBinary:
		return toBytes(o, s, q)
	case kindDate:
		if o.kind() == kindDatetime && o.Fraction() == 0 {
			return "CAST(" + q + " AS DATE)", true
		}
	case kindTime:
		if o.kind() == kindTime {
			return "CAST(" + q + " AS TIME(" + strconv.Itoa(s.Fraction()) + "))", true
		}
	case kindDatetime:
		if o.kind() == kindDate || o.kind() == kindDatetime || o.kind() == kindTimestamp {
			return "CAST(" + q + " AS DATETIME(" + strconv.Itoa(s.Fraction()) + "))", true
		}
	case kindTimestamp:
		if o.kind() == kindDate || o.kind() == kindDatetime {
			return "CAST(" + q + " AS DATETIME(" + strconv.Itoa(s.Fraction()) + "))", true
		}
	case kindEnum, kindSet:
		if o.kind() == s.kind() {
			return renumber(o, s)
		}
	case kindJSON:
		if o.kind() == kindChar {
			return "CAST(CONVERT(" + q + " USING utf8mb4) AS JSON)", true
		}
	case kindSpatial, kindVector:
		return q, o.kind() == s.kind()
	}
	return "", false
}

func toInt(o Column, q string) (string, bool) {
	switch o.kind() {
	case kindInt, kindBit, kindYear, kindEnum, kindSet:
		return q, true
	case kindDecimal:
		return "CAST(" + q + " AS DECIMAL(65,0))", true
	}
	return "", false
}

func toFloat(o, s Column, q string) (string, bool) {
	switch o.kind() {
	case kindInt, kindDecimal, kindFloat:
	default:
		return "", false
	}
	if o.Length() > 0 && o.kind() == kindFloat || s.Length() > 0 {
		return "", false // FLOAT(7,4) rounds to its digits
	}
	if s.DataType == "float" {
		return "CAST(" + q + " AS FLOAT)", true
	}
	return q, true
}

// toText converts to CHAR, VARCHAR or TEXT.
func toText(o, s Column, q string) (string, bool) {
	expr := "CONVERT(" + q + " USING " + s.Charset + ")"
	switch o.kind() {
	case kindChar:
		if isText(s) && textBytes(s) < textBytes(o) {
			return "", false // what is cut depends on bytes
		}
		if !isText(s) {
			whole := expr
			expr = fmt.Sprintf("LEFT(%s, %d)", whole, s.Length())
			if isText(o) || s.Length() < o.Length() {
				// Trailing spaces may be cut, and nothing else, whatever the mode
				// in which the row was written.
				expr = fmt.Sprintf("CONCAT(%s, TRIM(TRAILING ' ' FROM SUBSTRING(%s, %d)))", expr, whole, s.Length()+1)
			}
		}
	case kindBinary:
		switch s.Charset {
		case "ucs2", "utf16", "utf16le", "utf32":
			return "", false // short values are filled up with zero bytes
		}
		expr = binary(q)
	case kindInt, kindDecimal:
		if o.attributes() != "" && o.attributes() != " unsigned" {
			return "", false // ZEROFILL
		}
	case kindYear, kindEnum, kindSet, kindDate, kindTime, kindDatetime, kindTimestamp, kindJSON:
	default:
		return "", false
	}
	if s.DataType == "char" {
		expr = "TRIM(TRAILING ' ' FROM " + expr + ")"
	}
	return expr, true
}

func toBytes(o, s Column, q string) (string, bool) {
	switch o.kind() {
	case kindChar, kindBinary:
	default:
		return "", false
	}
	if s.DataType == "binary" {
		return fmt.Sprintf("RPAD(%s, %d, X'00')", binary(q), s.Length()), true
	}
	return binary(q), true
}

func isText(c Column) bool { return c.DataType != "char" && c.DataType != "varchar" }

// textBytes is the most bytes that a text type holds.
func textBytes(c Column) int {
	switch c.DataType {
	case "tinytext":
		return 1<<8 - 1
	case "text":
		return 1<<16 - 1
	case "mediumtext":
		return 1<<24 - 1
	case "longtext":
		return 1<<32 - 1
	}
	return 4 * c.Length()
}
