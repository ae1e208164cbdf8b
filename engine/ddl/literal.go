package ddl

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// BorderExpr is the SELECT expression with which a key value is read into the
// client. It always yields ASCII text that BorderLiteral turns back into the
// exact value: bytes travel as hexadecimal digits, ENUM, SET and BIT as
// numbers.
func BorderExpr(c Column) string {
	switch c.kind() {
	case kindChar, kindBinary:
		return "HEX(" + c.Quoted() + ")"
	case kindEnum, kindSet, kindBit, kindYear:
		return "CAST(" + c.Quoted() + " AS UNSIGNED)"
	case kindTimestamp:
		return "UNIX_TIMESTAMP(" + c.Quoted() + ")" // not in the session's zone
	}
	return "CAST(" + c.Quoted() + " AS CHAR)"
}

// BorderLiteral writes the text that BorderExpr yielded as a literal which the
// server compares with the column under the column's own type and collation.
func BorderLiteral(c Column, text []byte) (string, error) {
	s := string(text)
	switch c.kind() {
	case kindChar, kindBinary:
		b, err := hex.DecodeString(s)
		if err != nil {
			return "", fmt.Errorf("write key value of %s: %w", c.Quoted(), err)
		}
		return bytesLiteral(c, b), nil
	case kindInt, kindEnum, kindSet, kindBit, kindYear, kindDecimal:
		if !isNumber(s) {
			return "", fmt.Errorf("write key value of %s: %q is not a number", c.Quoted(), s)
		}
		return s, nil
	case kindTimestamp:
		return momentLiteral(c, s)
	case kindDate, kindTime, kindDatetime:
		return temporalLiteral(c, s)
	}
	return "", fmt.Errorf("write key value of %s: type %s can't be part of a key", c.Quoted(), c.ColumnType)
}

// KeyLiteral writes a value decoded from a binlog row event as such a literal.
// The binlog holds characters in the column's own character set, ENUM and SET
// as numbers, and BINARY without its trailing zero bytes; TIMESTAMP must have
// been decoded in UTC.
func KeyLiteral(c Column, v any) (string, error) {
	switch c.kind() {
	case kindChar, kindBinary:
		switch v := v.(type) {
		case string:
			return bytesLiteral(c, []byte(v)), nil
		case []byte:
			return bytesLiteral(c, v), nil
		}
	case kindInt, kindEnum, kindSet, kindBit, kindYear:
		if s, ok := integerText(c, v); ok {
			return s, nil
		}
	case kindTimestamp:
		if v, ok := v.(string); ok {
			return temporalLiteral(c, v)
		}
	case kindDecimal, kindDate, kindTime, kindDatetime:
		if v, ok := v.(string); ok {
			return BorderLiteral(c, []byte(v))
		}
	default:
		return BorderLiteral(c, nil)
	}
	return "", fmt.Errorf("write key value of %s: unexpected %T for type %s", c.Quoted(), v, c.ColumnType)
}

// bytesLiteral names the character set and no collation: the server then
// compares under the column's collation, and can use its index.
func bytesLiteral(c Column, b []byte) string {
	charset := c.Charset
	if c.kind() == kindBinary {
		charset = "binary"
	}
	text := strings.ToUpper(hex.EncodeToString(b))
	if n := c.Length(); c.DataType == "binary" && len(b) < n {
		text += strings.Repeat("00", n-len(b))
	}
	return "_" + charset + " X'" + text + "'"
}

// integerText undoes the decoder's guess of the sign: bits that it read as a
// negative number of an unsigned column are the upper half of its range.
func integerText(c Column, v any) (string, bool) {
	var n int64
	switch v := v.(type) {
	case int8:
		n = int64(v)
	case int16:
		n = int64(v)
	case int32:
		n = int64(v)
	case int64:
		n = v
	case int:
		n = int64(v)
	case uint8:
		return strconv.FormatUint(uint64(v), 10), true
	case uint16:
		return strconv.FormatUint(uint64(v), 10), true
	case uint32:
		return strconv.FormatUint(uint64(v), 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case uint:
		return strconv.FormatUint(uint64(v), 10), true
	default:
		return "", false
	}
	if n < 0 && (c.Unsigned() || c.kind() != kindInt) {
		bits := 64
		if c.kind() == kindInt {
			bits = c.intBits()
		}
		return strconv.FormatUint(uint64(n)&(1<<bits-1), 10), true
	}
	return strconv.FormatInt(n, 10), true
}

// temporalLiteral writes a TIMESTAMP with its offset, so that it means the
// same moment in every session time zone.
func temporalLiteral(c Column, s string) (string, error) {
	if strings.Trim(s, "0123456789-:. ") != "" || s == "" {
		return "", fmt.Errorf("write key value of %s: %q is not a %s", c.Quoted(), s, c.DataType)
	}
	switch c.kind() {
	case kindDate:
		return "DATE'" + s + "'", nil
	case kindTime:
		return "TIME'" + s + "'", nil
	case kindTimestamp:
		if !strings.HasPrefix(s, "0000") {
			return "TIMESTAMP'" + s + "+00:00'", nil
		}
	}
	return "TIMESTAMP'" + s + "'", nil
}

// momentLiteral writes seconds since 1970; 0 is MySQL's zero date.
func momentLiteral(c Column, s string) (string, error) {
	whole, fraction, point := strings.Cut(s, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return "", fmt.Errorf("write key value of %s: %q is not a moment", c.Quoted(), s)
	}
	text := "0000-00-00 00:00:00"
	if seconds != 0 {
		text = time.Unix(seconds, 0).UTC().Format(time.DateTime)
	}
	if point {
		text += "." + fraction
	}
	return temporalLiteral(c, text)
}

func isNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	return whole != "" && (!point || fraction != "") && strings.Trim(whole+fraction, "0123456789") == ""
}
