package ddl

import (
	"slices"
	"strings"
)

// reversible tells whether each key value of the original can be found again
// from its converted value in the shadow, as DeleteGone and DeleteKeys need.
func reversible(p Pair) bool {
	o, s := p.Original, p.Shadow
	if sameType(o, s) {
		return true
	}
	if o.kind() != s.kind() {
		return false
	}
	switch o.kind() {
	case kindInt:
		return true
	case kindDecimal:
		return s.Scale() >= o.Scale()
	case kindBit:
		return s.Length() >= o.Length()
	case kindTime, kindDatetime, kindTimestamp:
		return s.Fraction() >= o.Fraction()
	case kindChar:
		return o.DataType == s.DataType && s.Length() >= o.Length() || o.DataType == "char" && s.DataType == "varchar"
	case kindBinary:
		return o.DataType == "varbinary" && s.DataType == "varbinary"
	case kindEnum, kindSet:
		return sameNumbers(o, s)
	}
	return false
}

// sameNumbers tells whether every member of o keeps its number in s.
func sameNumbers(o, s Column) bool {
	om, sm := o.Members(), s.Members()
	return len(sm) >= len(om) && slices.Equal(om, sm[:len(om)]) && o.Charset == s.Charset
}

// toShadow writes an expression of the original's type so that it compares
// with the shadow's column as the converted value would.
func toShadow(p Pair, expr string) string {
	return recode(expr, p.Original, p.Shadow)
}

// toOriginal is the way back.
func toOriginal(p Pair, expr string) string {
	return recode(expr, p.Shadow, p.Original)
}

// recode names the target's character set and collation where they differ.
// The other types that reversible admits compare as they are.
func recode(expr string, from, to Column) string {
	if from.Collation == to.Collation || to.kind() != kindChar {
		return expr
	}
	if from.Charset != to.Charset {
		expr = "CONVERT(" + expr + " USING " + to.Charset + ")"
	}
	return expr + " COLLATE " + to.Collation
}

// mergesValues tells whether two values that a key of the original tells
// apart may be equal under the same key of the shadow. It errs towards true:
// that only costs speed.
func mergesValues(p Pair) bool {
	o, s := p.Original, p.Shadow
	if sameType(o, s) {
		return false
	}
	switch {
	case o.kind() == kindInt && s.kind() == kindInt:
		return false // a value out of range is an error
	case o.kind() == kindInt && s.kind() == kindDecimal:
		return false
	case o.kind() == kindDate && s.kind() == kindDatetime:
		return false
	case o.kind() == kindDatetime && s.kind() == kindDate:
		return true
	case o.kind() == kindBinary && o.DataType == "varbinary" && s.DataType == "varbinary":
		return false
	case o.kind() == kindChar && s.kind() == kindChar:
		return mergesText(o, s)
	}
	return !reversible(p)
}

func mergesText(o, s Column) bool {
	trims := s.DataType == "char" && o.DataType != "char" || s.Length() < o.Length() && o.DataType != "char"
	if trims && noPad(o.Collation) {
		return true // 'a' and 'a ' are two values there
	}
	if o.Collation == s.Collation {
		return false
	}
	exact := strings.HasSuffix(s.Collation, "_bin") && (noPad(s.Collation) || !noPad(o.Collation))
	return !exact || o.Charset != s.Charset && !(injective(o.Charset) && unicode(s.Charset))
}

// noPad tells whether trailing spaces count in comparisons.
func noPad(collation string) bool {
	return strings.Contains(collation, "_0900_") || collation == "binary"
}

// injective tells whether no two characters of the set are one in Unicode.
// The East Asian vendor sets have such doubles.
func injective(charset string) bool {
	return unicode(charset) || charset == "ascii" || charset == "latin1"
}

func unicode(charset string) bool {
	switch charset {
	case "utf8mb4", "utf8mb3", "utf8", "ucs2", "utf16", "utf16le", "utf32":
		return true
	}
	return false
}
