package ddl

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// String is the tuple's text, by which the engine knows equal keys. Keys that
// differ in text may still be equal for the server, which does no harm.
func (t Tuple) String() string { return strings.Join(t, ", ") }

// KeyTuple makes a key of decoded binlog values, one per key column.
func (k KeyPlan) KeyTuple(values []any) (Tuple, error) {
	t := make(Tuple, len(k.Pairs))
	for i, p := range k.Pairs {
		literal, err := KeyLiteral(p.Original, values[i])
		if err != nil {
			return nil, err
		}
		t[i] = literal
	}
	return t, nil
}

// Describe names a row for a person: `id` = 7.
func (k KeyPlan) Describe(t Tuple) string {
	parts := make([]string, len(k.Pairs))
	for i, p := range k.Pairs {
		parts[i] = p.Original.Quoted() + " = " + readable(p.Original, t[i])
	}
	return strings.Join(parts, ", ")
}

// readable writes the literal of a text as the text, if it can be read and
// copied as it stands.
func readable(c Column, literal string) string {
	if c.Charset != "utf8mb4" && c.Charset != "utf8mb3" {
		return literal
	}
	digits, ok := strings.CutPrefix(literal, "_"+c.Charset+" X'")
	text, err := hex.DecodeString(strings.TrimSuffix(digits, "'"))
	unclear := func(r rune) bool { return r == '\'' || r == '\\' || !strconv.IsPrint(r) }
	if !ok || err != nil || !utf8.Valid(text) || strings.ContainsFunc(string(text), unclear) {
		return literal
	}
	return "'" + string(text) + "'"
}

// KeysIn reads the keys of a range, in order.
func (p Plan) KeysIn(r Range) string {
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + p.from() +
		" WHERE " + p.Key.Where(r) + " ORDER BY " + p.Key.order(false)
}
