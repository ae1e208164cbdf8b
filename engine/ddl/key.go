package ddl

import (
	"fmt"
	"strings"
)

// KeyPlan is the key by which rows are found in both tables.
type KeyPlan struct {
	Name       string // of the index in the original
	ShadowName string // of the index in the shadow
	Pairs      []Pair // in the order of the original's index
	Desc       []bool // which of them the index holds in descending order

	// Loose says that the index in the shadow tells rows apart by more
	// columns. Then a row whose further columns change leaves its old version
	// behind, unless that is deleted first.
	Loose bool
}

// Tuple is one key value: an SQL literal for each column of the key, in the
// original's type.
type Tuple []string

// ChooseKey finds a key by which each row of the original has at most one
// row in the shadow: the primary key, or else a unique key without NULLs.
// The error is a *Refusal that tells about the primary key, or about all
// unique keys where there is none.
func ChooseKey(original, shadow Table, m Mapping) (KeyPlan, error) {
	var why []string
	for _, k := range original.Keys {
		if !k.Unique {
			continue
		}
		plan, err := tryKey(original, shadow, m, k)
		if err == nil {
			return plan, nil
		}
		why = append(why, QuoteIdent(k.Name)+": "+err.Error())
	}
	if len(why) == 0 {
		return KeyPlan{}, &Refusal{What: "table " + original.Name.String(), Why: "it has no primary or unique key",
			Do: "add a primary key first"}
	}
	return KeyPlan{}, &Refusal{What: "table " + original.Name.String(),
		Why: "no key can tell its rows apart in both tables: " + strings.Join(why, "; "),
		Do:  "keep or first add a primary or unique NOT NULL key of plain columns, and change it in a second ALTER"}
}

func tryKey(original, shadow Table, m Mapping, k Key) (KeyPlan, error) {
	plan := KeyPlan{Name: k.Name}
	for _, part := range k.Parts {
		pair, err := keyPair(original, m, part)
		if err != nil {
			return KeyPlan{}, err
		}
		plan.Pairs = append(plan.Pairs, pair)
		plan.Desc = append(plan.Desc, part.Desc)
	}
	for _, s := range shadow.Keys {
		if s.Unique && len(s.Parts) == len(plan.Pairs) && beginsWith(s, plan.Pairs) {
			plan.ShadowName = s.Name
			return plan, nil
		}
	}
	for _, s := range shadow.Keys {
		if s.Unique && beginsWith(s, plan.Pairs) {
			plan.ShadowName, plan.Loose = s.Name, true
			return plan, nil
		}
	}
	return KeyPlan{}, fmt.Errorf("no unique key of the shadow begins with its columns")
}

func keyPair(original Table, m Mapping, part KeyPart) (Pair, error) {
	if part.Expr != "" {
		return Pair{}, fmt.Errorf("it holds the expression %s", part.Expr)
	}
	if part.Prefix > 0 {
		return Pair{}, fmt.Errorf("it holds only a prefix of %s", QuoteIdent(part.Column))
	}
	c, ok := original.Column(part.Column)
	if !ok {
		return Pair{}, fmt.Errorf("its column %s is unknown", QuoteIdent(part.Column))
	}
	if c.Nullable {
		return Pair{}, fmt.Errorf("its column %s can be NULL", c.Quoted())
	}
	switch c.kind() {
	case kindFloat:
		return Pair{}, fmt.Errorf("its column %s is %s, which has no exact text", c.Quoted(), c.ColumnType)
	case kindJSON, kindSpatial, kindVector, kindOther:
		return Pair{}, fmt.Errorf("its column %s is %s", c.Quoted(), c.ColumnType)
	}
	pair, ok := m.pairOf(c.Name)
	if !ok {
		return Pair{}, fmt.Errorf("the ALTER drops its column %s, or makes it a generated one", c.Quoted())
	}
	if !reversible(pair) {
		return Pair{}, fmt.Errorf("the ALTER changes its column %s from %s to %s in a way that can't be undone",
			c.Quoted(), describe(pair.Original), describe(pair.Shadow))
	}
	return pair, nil
}

func describe(c Column) string {
	if c.Collation == "" {
		return c.ColumnType
	}
	return c.ColumnType + " " + c.Collation
}

// beginsWith tells whether an index begins with these columns. Their order
// doesn't matter.
func beginsWith(k Key, pairs []Pair) bool {
	if len(k.Parts) < len(pairs) {
		return false
	}
	for _, p := range pairs {
		found := false
		for _, part := range k.Parts[:len(pairs)] {
			found = found || part.Prefix == 0 && part.Expr == "" && strings.EqualFold(part.Column, p.Shadow.Name)
		}
		if !found {
			return false
		}
	}
	return true
}

// reordered tells whether the shadow's index has the columns in another order.
func (k KeyPlan) reordered(shadow Table) bool {
	for _, s := range shadow.Keys {
		if s.Name != k.ShadowName {
			continue
		}
		for i, p := range k.Pairs {
			if !strings.EqualFold(s.Parts[i].Column, p.Shadow.Name) {
				return true
			}
		}
	}
	return false
}

// Ordinals are the places of the key's columns in a full binlog row image.
func (k KeyPlan) Ordinals() []int {
	at := make([]int, len(k.Pairs))
	for i, p := range k.Pairs {
		at[i] = p.Original.Position - 1
	}
	return at
}

// Tuple takes the key out of a row image.
func (k KeyPlan) Tuple(row []any) (Tuple, error) {
	t := make(Tuple, len(k.Pairs))
	for i, p := range k.Pairs {
		at := p.Original.Position - 1
		if at >= len(row) {
			return nil, fmt.Errorf("read key: the row image has %d columns, %s is number %d", len(row), p.Original.Quoted(), at+1)
		}
		literal, err := KeyLiteral(p.Original, row[at])
		if err != nil {
			return nil, err
		}
		t[i] = literal
	}
	return t, nil
}

// BorderTuple makes a key of a row that was selected with BorderExprs.
func (k KeyPlan) BorderTuple(texts [][]byte) (Tuple, error) {
	if len(texts) != len(k.Pairs) {
		return nil, fmt.Errorf("read key border: %d columns for a key of %d", len(texts), len(k.Pairs))
	}
	t := make(Tuple, len(k.Pairs))
	for i, p := range k.Pairs {
		literal, err := BorderLiteral(p.Original, texts[i])
		if err != nil {
			return nil, err
		}
		t[i] = literal
	}
	return t, nil
}
