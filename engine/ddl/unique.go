package ddl

import "strings"

// UniqueKey is a unique key of the shadow that rows of the original may
// violate.
type UniqueKey struct {
	Key Key
	Why string
}

// duplicable finds the unique keys of the shadow that no unique key of the
// original vouches for.
func duplicable(original, shadow Table, m Mapping) []UniqueKey {
	var out []UniqueKey
	for _, s := range shadow.Keys {
		if !s.Unique {
			continue
		}
		vouched := false
		for _, o := range original.Keys {
			vouched = vouched || o.Unique && vouches(original, shadow, m, o, s)
		}
		if !vouched {
			out = append(out, UniqueKey{Key: s, Why: whyDuplicable(original, s)})
		}
	}
	return out
}

func whyDuplicable(original Table, s Key) string {
	for _, o := range original.Keys {
		if o.Unique && strings.EqualFold(o.Name, s.Name) {
			return "the ALTER changes its columns, or how they compare"
		}
	}
	return "the ALTER adds it"
}

// vouches tells whether rows that differ under o always differ under s: each
// column of o is in s, in at least the same length, and no two of its values
// become one.
func vouches(original, shadow Table, m Mapping, o, s Key) bool {
	for _, op := range o.Parts {
		found := false
		for _, sp := range s.Parts {
			found = found || vouchesPart(original, shadow, m, op, sp)
		}
		if !found {
			return false
		}
	}
	return true
}

func vouchesPart(original, shadow Table, m Mapping, o, s KeyPart) bool {
	if s.Prefix > 0 && (o.Prefix == 0 || s.Prefix < o.Prefix) {
		return false
	}
	if o.Expr != "" || s.Expr != "" {
		return o.Expr == s.Expr && m.keepsTypes()
	}
	if p, ok := m.pairTo(s.Column); ok {
		return strings.EqualFold(p.Original.Name, o.Column) && !mergesValues(p)
	}
	oc, ok := original.Column(o.Column)
	sc, also := shadow.Column(s.Column)
	return ok && also && oc.Generation() != Plain && sc.Generation() != Plain &&
		strings.EqualFold(oc.Name, sc.Name) && oc.Expression == sc.Expression && sameType(oc, sc) && m.keepsTypes()
}

// keepsTypes tells whether every column that goes on has the same type and
// name as before, so that an expression over them has the same values.
func (m Mapping) keepsTypes() bool {
	for _, p := range m.Pairs {
		if !sameType(p.Original, p.Shadow) || !strings.EqualFold(p.Original.Name, p.Shadow.Name) {
			return false
		}
	}
	return true
}
