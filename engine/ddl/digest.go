package ddl

import "strings"

// Digests reads two rows, the number of rows and a digest of their values,
// first of the original's and then of the shadow's rows in a range of keys,
// in one snapshot. ok is false if a range of the original is none of the
// shadow (see KeyChanges).
//
// The digest is the XOR of a SHA-256 of each row. Every row holds its key,
// so no two rows of a table are alike, and none can hide another.
func (p Plan) Digests(r Range) (query string, ok bool) {
	where, ok := p.Key.ShadowWhere(r)
	if !ok {
		return "", false
	}
	var original, shadow []rowValue
	for _, pair := range p.Mapping.Pairs {
		o, s, ok := CompareExprs(pair)
		if !ok {
			continue
		}
		value := rowValue{
			bare:     pair.Original.kind() == kindInt && pair.Shadow.kind() == kindInt && !pair.Original.Nullable,
			nullable: pair.Original.Nullable || pair.Shadow.Nullable,
		}
		if plain(pair) {
			o, s = pair.Original.Quoted(), pair.Shadow.Quoted()
		}
		value.expr = o
		original = append(original, value)
		value.expr = s
		shadow = append(shadow, value)
	}
	return "SELECT COUNT(*), " + digest(original) + p.from() + " WHERE " + p.Key.Where(r) +
		" UNION ALL SELECT COUNT(*), " + digest(shadow) + " FROM " + p.Shadow.Name.Quoted() +
		" FORCE INDEX (" + QuoteIdent(p.Key.ShadowName) + ") WHERE " + where, true
}

// plain tells whether the columns themselves serve in a digest, which spares
// half its time: their text names the value and no other, and stays what it
// is, byte for byte, whatever it is joined with.
func plain(p Pair) bool {
	if !sameType(p.Original, p.Shadow) {
		return false
	}
	switch p.Original.kind() {
	case kindInt, kindBinary:
		return true
	case kindChar:
		return p.Original.Charset == "utf8mb4"
	}
	return false
}

// rowValue is an expression whose value is part of a row's digest.
type rowValue struct {
	expr     string
	bare     bool // a number that is never NULL: it holds no comma
	nullable bool
}

// digest joins the values of a row so that no two rows give the same text:
// values, separated by commas, and then their lengths, which tell the commas
// within from those between, and NULL from ”.
func digest(values []rowValue) string {
	var texts, lengths []string
	for _, v := range values {
		text, length := v.expr, "LENGTH("+v.expr+")"
		if v.nullable {
			text, length = "IFNULL("+text+", '')", "IFNULL("+length+", '-')"
		}
		texts = append(texts, text)
		if !v.bare {
			lengths = append(lengths, length)
		}
	}
	// A row that is too long to be joined (max_allowed_packet) has no digest,
	// and BIT_XOR would pass over it: give it one that equals no other, so that
	// its range is compared row by row.
	return "BIT_XOR(UNHEX(IFNULL(SHA2(CONCAT_WS(',', " + strings.Join(append(texts, lengths...), ", ") + "), 256), SHA2(RAND(), 256))))"
}
