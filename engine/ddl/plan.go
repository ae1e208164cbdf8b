package ddl

import (
	"strconv"
	"strings"
)

// Plan is a migration as far as SQL goes: made once, used by every part that
// reads or writes rows.
type Plan struct {
	Original   Table
	Shadow     Table
	Alter      Alter
	Mapping    Mapping
	Key        KeyPlan
	Duplicable []UniqueKey // the shadow's unique keys that the original's rows may violate
}

// NewPlan plans the migration of original into shadow, on which the server
// has run the ALTER. The error is a *Refusal where rows can't follow safely.
func NewPlan(original, shadow Table, alter Alter) (Plan, error) {
	m, err := NewMapping(original, shadow, alter)
	if err != nil {
		return Plan{}, err
	}
	key, err := ChooseKey(original, shadow, m)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Original: original, Shadow: shadow, Alter: alter, Mapping: m, Key: key,
		Duplicable: duplicable(original, shadow, m)}
	if err := p.refuseZones(); err != nil {
		return Plan{}, err
	}
	return p, p.refuseExpressions()
}

// refuseZones refuses a TIMESTAMP in the key of a copy that must run in the
// server's own zone: where clocks go back, two moments have one local time,
// and by that the server compares them.
func (p Plan) refuseZones() error {
	if !p.Mapping.CrossesZones() {
		return nil
	}
	for _, k := range p.Key.Pairs {
		if k.Original.kind() == kindTimestamp {
			return &Refusal{What: "key column " + k.Original.Quoted() + " " + k.Original.ColumnType,
				Why: "the ALTER turns a TIMESTAMP into another type or back, which depends on the time zone, and so would the key",
				Do:  "give the table a primary key without TIMESTAMP first"}
		}
	}
	return nil
}

// MayDuplicate tells whether a row of the original can meet another one in the
// shadow that is not just stale: under a unique key that the original's rows
// may violate, or where the key is loose. REPLACE would drop rows silently, or
// leave some behind: use DeleteKeys and Insert.
func (p Plan) MayDuplicate() bool { return len(p.Duplicable) > 0 || p.Key.Loose }

// Conflicts are the unique keys of the shadow under which an Insert may meet
// another row. A unique key that the original vouches for is among them: the
// row that is met is stale.
func (p Plan) Conflicts() []UniqueKey {
	var all []UniqueKey
	for _, k := range p.Shadow.Keys {
		if k.Unique && !hasExpression(k) {
			all = append(all, UniqueKey{Key: k})
		}
	}
	return all
}

// Verb is how rows are written to the shadow.
type Verb string

// Replace takes the place of any row with an equal key, which is right while
// every conflict is with a stale row. Insert fails on a conflict.
const (
	Replace Verb = "REPLACE"
	Insert  Verb = "INSERT"
)

// Copy writes the rows of a key range to the shadow. Its read locks: it waits
// for transactions that are in the binlog and not visible yet.
func (p Plan) Copy(v Verb, r Range) string {
	return p.write(v, p.Key.Where(r))
}

// Apply writes the present rows of these keys to the shadow, with the same
// locking read.
func (p Plan) Apply(v Verb, keys []Tuple) string {
	return p.write(v, p.Key.In(keys))
}

func (p Plan) write(v Verb, where string) string {
	return p.into(v, p.Shadow.Name.Quoted(), where)
}

func (p Plan) into(v Verb, target, where string) string {
	return string(v) + " INTO " + target + " (" + quoteIdents(p.Mapping.InsertColumns()) + ")" +
		" SELECT " + strings.Join(p.Mapping.SelectExprs(), ", ") + p.from() +
		" WHERE " + where + " FOR SHARE"
}

// DeleteGone removes the shadow rows of these keys that no row of the original
// accounts for. It follows Apply(Replace, keys) in one transaction, whose locks
// keep the answer true. Its own read locks as well, and so reads the present:
// under a collation 'a' and 'A' are one key with two texts, and while one
// worker deletes the row of the one, another may have written the row of the
// other, which a snapshot from before would not account for.
//
// A row of the shadow is accounted for by the row of the original that
// converts to its key. Both directions are asked: when the ALTER makes a
// collation finer, 'A' may be gone although 'a' is there; when it makes one
// coarser, 'b' may stand where 'B' is asked for.
//
// It says NOT EXISTS, not LEFT JOIN and IS NULL: for MySQL the zero date in a
// NOT NULL column is NULL there.
func (p Plan) DeleteGone(keys []Tuple) string {
	return "DELETE s FROM " + p.Shadow.Name.Quoted() + " AS s WHERE " + p.Key.shadowIn("s.", keys) +
		" AND NOT EXISTS (SELECT 1 FROM " + p.Original.Name.Quoted() + " AS o WHERE " + p.Key.Join("o.", "s.") + " FOR SHARE)"
}

// DeleteKeys removes the shadow rows of these keys. With Insert it precedes
// Apply in one transaction, and DeleteGone isn't needed.
func (p Plan) DeleteKeys(keys []Tuple) string {
	return "DELETE FROM " + p.Shadow.Name.Quoted() + " WHERE " + p.Key.ShadowIn(keys)
}

// FirstBorder reads the first key in the index's order, under a lock; no row
// means an empty table.
func (p Plan) FirstBorder() string { return p.border(false) }

// LastBorder reads the last key, under a lock.
func (p Plan) LastBorder() string { return p.border(true) }

func (p Plan) border(last bool) string {
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + p.from() +
		" ORDER BY " + p.Key.order(last) + " LIMIT 1 FOR SHARE"
}

// NextBorder reads the key that ends a chunk of this many rows after a key
// (nil: from the start). It is a plain read: a border only sizes a chunk. No
// row means that fewer are left, so the chunk is the last one and its range
// stays open.
func (p Plan) NextBorder(after Tuple, rows int) string {
	return "SELECT " + strings.Join(p.Key.BorderExprs(), ", ") + p.from() +
		" WHERE " + p.Key.Where(Range{After: after}) +
		" ORDER BY " + p.Key.order(false) + " LIMIT 1 OFFSET " + strconv.Itoa(max(rows, 1)-1)
}

func (p Plan) from() string {
	return " FROM " + p.Original.Name.Quoted() + " FORCE INDEX (" + QuoteIdent(p.Key.Name) + ")"
}

// BorderExprs are the expressions that read a key for BorderTuple.
func (k KeyPlan) BorderExprs() []string {
	var exprs []string
	for _, p := range k.Pairs {
		exprs = append(exprs, BorderExpr(p.Original))
	}
	return exprs
}

// order is the index's own order, or its reverse: neither needs a sort.
func (k KeyPlan) order(reverse bool) string {
	var by []string
	for i, p := range k.Pairs {
		direction := " ASC"
		if k.Desc[i] != reverse {
			direction = " DESC"
		}
		by = append(by, p.Original.Quoted()+direction)
	}
	return strings.Join(by, ", ")
}

// Where is the condition on the original for a range of keys.
func (k KeyPlan) Where(r Range) string { return RangeCond(k.columns(), r) }

// ShadowWhere is the condition on the shadow for the rows of the same range.
// ok is false if the ALTER changes how the key compares: the shadow's rows
// must then be found one by one, with Join.
func (k KeyPlan) ShadowWhere(r Range) (cond string, ok bool) {
	for _, p := range k.Pairs {
		if p.Original.Collation != p.Shadow.Collation {
			return "", false
		}
	}
	return RangeCond(k.shadowColumns(), r), true
}

// In is the condition on the original for a list of keys.
func (k KeyPlan) In(keys []Tuple) string { return InKeys(k.columns(), keys) }

// ShadowIn is the condition on the shadow for the rows that stand for these
// keys of the original.
func (k KeyPlan) ShadowIn(keys []Tuple) string { return k.shadowIn("", keys) }

// Join is the condition that a row of the original and a row of the shadow
// have the same key; the aliases end with a dot. Either index can serve it.
func (k KeyPlan) Join(original, shadow string) string {
	var on []string
	for _, p := range k.Pairs {
		o, s := original+p.Original.Quoted(), shadow+p.Shadow.Quoted()
		back := toOriginal(p, s)
		on = append(on, o+" = "+back)
		if back != s {
			on = append(on, s+" = "+toShadow(p, o))
		}
	}
	return strings.Join(on, " AND ")
}

func (k KeyPlan) shadowIn(alias string, keys []Tuple) string {
	cols, back := k.columns(), k.columns()
	changed := false
	for i, p := range k.Pairs {
		cols[i].Expr = alias + p.Shadow.Quoted()
		back[i].Expr = toOriginal(p, cols[i].Expr)
		changed = changed || back[i].Expr != cols[i].Expr
	}
	if !changed {
		return InKeys(cols, keys)
	}
	converted := make([]Tuple, len(keys))
	for i, key := range keys {
		for j, p := range k.Pairs {
			converted[i] = append(converted[i], toShadow(p, key[j]))
		}
	}
	return InKeys(cols, converted) + " AND " + InKeys(back, keys)
}

func (k KeyPlan) columns() []KeyColumn {
	cols := make([]KeyColumn, len(k.Pairs))
	for i, p := range k.Pairs {
		cols[i] = KeyColumn{Expr: p.Original.Quoted(), Desc: k.Desc[i]}
		switch p.Original.kind() {
		case kindEnum:
			cols[i].Enum, cols[i].Code = len(p.Original.Members()), true
		case kindSet:
			cols[i].Code = true
		}
	}
	return cols
}

// shadowColumns are the same columns in the shadow. Where the collation is
// the same, so is their order.
func (k KeyPlan) shadowColumns() []KeyColumn {
	cols := k.columns()
	for i, p := range k.Pairs {
		cols[i].Expr = p.Shadow.Quoted()
	}
	return cols
}

func (k KeyPlan) original() []string {
	var cols []string
	for _, p := range k.Pairs {
		cols = append(cols, p.Original.Quoted())
	}
	return cols
}
