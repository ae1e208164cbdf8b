package ddl

import (
	"strconv"
	"strings"
)

// Differences reads the keys of the original's rows whose shadow row is
// missing or is not what the ALTER makes of them, and behind the key the
// columns that differ, as a list with commas; the list is empty where the
// row is missing. Locking, it reads the present state and holds it.
func (p Plan) Differences(where string, lock bool) string {
	var keys, outer, inner, on, differ, names []string
	for i, k := range p.Key.Pairs {
		n := strconv.Itoa(i)
		keys = append(keys, "o.k"+n)
		outer = append(outer, BorderExpr(k.Original)+" AS k"+n, toShadow(k, k.Original.Quoted())+" AS s"+n)
		inner = append(inner, k.Shadow.Quoted()+" AS s"+n)
		on = append(on, "s.s"+n+" = o.s"+n)
	}
	for i, pair := range p.Mapping.Pairs {
		o, s, ok := CompareExprs(pair)
		if !ok {
			continue
		}
		n := strconv.Itoa(i)
		outer = append(outer, o+" AS c"+n)
		inner = append(inner, s+" AS c"+n)
		differ = append(differ, "NOT o.c"+n+" <=> s.c"+n)
		names = append(names, "IF(NOT o.c"+n+" <=> s.c"+n+", "+QuoteString(pair.Shadow.Name)+", NULL)")
	}
	query := "SELECT " + strings.Join(keys, ", ") +
		", IF(s.s0 IS NULL, '', CONCAT_WS(', ', " + strings.Join(names, ", ") + "))" +
		" FROM (SELECT " + strings.Join(outer, ", ") + p.from() + " WHERE " + where + locking(lock) + ") AS o" +
		" LEFT JOIN (SELECT " + strings.Join(inner, ", ") + " FROM " + p.Shadow.Name.Quoted() + locking(lock) + ") AS s" +
		" ON " + strings.Join(on, " AND ") +
		" WHERE s.s0 IS NULL OR " + strings.Join(differ, " OR ")
	return query
}

// Extras reads the keys of the shadow's rows that no row of the original
// accounts for, among those with a key in the range. If the ALTER changes
// how keys compare, a range of the original is none of the shadow, and only
// the open range is allowed (see KeyChanges).
func (p Plan) Extras(r Range) string {
	return p.extras(RangeCond(p.Key.shadowColumns(), r), false)
}

func (p Plan) extras(where string, lock bool) string {
	var inner, on []string
	for i, k := range p.Key.Pairs {
		n := strconv.Itoa(i)
		inner = append(inner, toOriginal(k, k.Shadow.Quoted())+" AS "+k.Original.Quoted(), k.Shadow.Quoted()+" AS s"+n)
		on = append(on, "o."+k.Original.Quoted()+" = s."+k.Original.Quoted(),
			"s.s"+n+" = "+toShadow(k, "o."+k.Original.Quoted()))
	}
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") +
		" FROM (SELECT " + strings.Join(inner, ", ") + " FROM " + p.Shadow.Name.Quoted() +
		" WHERE " + where + locking(lock) + ") AS s" +
		" WHERE NOT EXISTS (SELECT 1 FROM " + p.Original.Name.Quoted() + " AS o WHERE " + strings.Join(on, " AND ") + locking(lock) + ")"
}

// KeyChanges tells whether a key column has another type or collation in the
// shadow than in the original, or the columns another order: a range of keys
// of the original is none of the shadow then.
func (p Plan) KeyChanges() bool {
	if p.Key.reordered(p.Shadow) {
		return true
	}
	for _, k := range p.Key.Pairs {
		if !sameType(k.Original, k.Shadow) {
			return true
		}
	}
	return false
}

func locking(lock bool) string {
	if lock {
		return " FOR SHARE"
	}
	return ""
}

// ExtrasAmong reads the keys of the shadow's rows of these keys that no row
// of the original accounts for. Locking, it reads the present state and holds
// it.
func (p Plan) ExtrasAmong(keys []Tuple, lock bool) string {
	return p.extras(p.Key.ShadowIn(keys), lock)
}
