package ddl

import (
	"fmt"
	"strings"
)

// Mapping says where each column of the shadow gets its value.
type Mapping struct {
	Pairs []Pair // by position in the shadow
	Fills []Fill // by position in the shadow
}

// Pair is a shadow column that continues a column of the original.
type Pair struct {
	Original Column
	Shadow   Column
}

// Fill is a shadow column without source that INSERT must not leave out. If it
// has no default, MySQL gives existing rows the type's implicit value, and an
// INSERT in strict mode refuses. If its default is CURRENT_TIMESTAMP, MySQL
// gives all existing rows the time of the ALTER, and each INSERT its own.
type Fill struct {
	Column   Column
	Expr     string
	ZeroDate bool // MySQL under NO_ZERO_DATE refuses the ALTER of a table that has rows
}

// NewMapping pairs the columns of the shadow, made by running the ALTER on an
// empty copy, with the columns of the original. It refuses columns that MySQL
// would number row by row, and returns a plain error if the ALTER as parsed
// doesn't explain the difference of the tables.
func NewMapping(original, shadow Table, alter Alter) (Mapping, error) {
	var m Mapping
	fed := map[string]bool{}
	for _, s := range shadow.Columns {
		o, continued, err := source(original, alter, s)
		if err != nil {
			return Mapping{}, err
		}
		if continued {
			fed[strings.ToLower(o.Name)] = true
		}
		if err := refuseNumbering(o, s, continued); err != nil {
			return Mapping{}, err
		}
		switch {
		case s.Generation() != Plain:
		case continued:
			p := Pair{Original: o, Shadow: s}
			if err := p.refuse(); err != nil {
				return Mapping{}, err
			}
			m.Pairs = append(m.Pairs, p)
		case s.defaultsToNow() && alter.At != (Moment{}):
			m.Fills = append(m.Fills, Fill{Column: s, Expr: alter.At.literal(s)})
		case !s.HasDefault():
			f, err := fill(s)
			if err != nil {
				return Mapping{}, err
			}
			m.Fills = append(m.Fills, f)
		}
	}
	for _, o := range original.Columns {
		if !fed[strings.ToLower(o.Name)] && !containsFold(alter.Dropped, o.Name) {
			return Mapping{}, fmt.Errorf("map columns: %s is neither in the shadow nor dropped by the ALTER", o.Quoted())
		}
	}
	if len(m.Pairs) == 0 {
		return Mapping{}, &Refusal{What: "ALTER of " + original.Name.String(), Why: "no column of the original is kept",
			Do: "create a new table instead"}
	}
	return m, nil
}

// source finds the original column that a shadow column continues. All
// clauses of one ALTER speak of the columns as they were before it, so a swap
// of two names needs no order.
func source(original Table, alter Alter, s Column) (Column, bool, error) {
	for _, r := range alter.Renames {
		if strings.EqualFold(r.To, s.Name) {
			o, ok := original.Column(r.From)
			if !ok {
				return Column{}, false, fmt.Errorf("map columns: renamed column %s is not in the original", QuoteIdent(r.From))
			}
			return o, true, nil
		}
	}
	if containsFold(alter.Added, s.Name) {
		return Column{}, false, nil
	}
	o, ok := original.Column(s.Name)
	if !ok || containsFold(alter.Dropped, s.Name) || alter.renamed(s.Name) {
		return Column{}, false, fmt.Errorf("map columns: %s of the shadow comes from nowhere", s.Quoted())
	}
	return o, true, nil
}

// refuseNumbering refuses columns whose values MySQL would make up while it
// copies: a row applied twice would get a second number.
func refuseNumbering(o, s Column, continued bool) error {
	if !s.AutoIncrement() {
		return nil
	}
	if !continued {
		return &Refusal{What: "ADD COLUMN " + s.Quoted() + " AUTO_INCREMENT",
			Why: "existing rows would be numbered in an order that can't be repeated while they change",
			Do:  "add it as a plain column, fill it, then make it AUTO_INCREMENT"}
	}
	if o.Nullable {
		return &Refusal{What: "AUTO_INCREMENT on the nullable column " + o.Quoted(),
			Why: "rows with NULL would be numbered anew each time they are copied",
			Do:  "fill the NULLs and make the column NOT NULL first"}
	}
	return nil
}

// fill gives the value that MySQL's ALTER gives existing rows in a new NOT
// NULL column without default.
func fill(c Column) (Fill, error) {
	f := Fill{Column: c}
	switch c.kind() {
	case kindInt, kindDecimal, kindFloat, kindBit, kindYear, kindSet:
		f.Expr = "0"
	case kindChar, kindBinary:
		f.Expr = "''"
	case kindEnum:
		f.Expr = "1"
	case kindTime:
		f.Expr = "'00:00:00'"
	case kindDate:
		f.Expr, f.ZeroDate = "'0000-00-00'", true
	case kindDatetime, kindTimestamp:
		f.Expr, f.ZeroDate = "'0000-00-00 00:00:00'", true
	case kindJSON:
		f.Expr = "CAST('null' AS JSON)"
	default:
		return Fill{}, &Refusal{What: "ADD COLUMN " + c.Quoted() + " " + c.ColumnType + " NOT NULL",
			Why: "the type has no value that existing rows could get", Do: "make the column nullable or give it a DEFAULT"}
	}
	return f, nil
}

// RefuseZeroDate is the refusal for a table that has rows, where the server's
// sql_mode has NO_ZERO_DATE.
func (f Fill) RefuseZeroDate() error {
	return &Refusal{What: "ADD COLUMN " + f.Column.Quoted() + " " + f.Column.ColumnType + " NOT NULL",
		Why: "existing rows would get a zero date, which the server's sql_mode (NO_ZERO_DATE) forbids",
		Do:  "make the column nullable or give it a DEFAULT"}
}

func (c Column) defaultsToNow() bool {
	return c.Default != nil && strings.HasPrefix(strings.ToUpper(*c.Default), "CURRENT_TIMESTAMP") &&
		(c.kind() == kindDatetime || c.kind() == kindTimestamp)
}

// literal is the moment as a value of the column.
func (m Moment) literal(c Column) string {
	if c.kind() == kindTimestamp {
		return "TIMESTAMP'" + m.UTC + "+00:00'"
	}
	return "TIMESTAMP'" + m.Local + "'"
}

// CrossesZones tells whether a TIMESTAMP turns into another type or the other
// way round. MySQL converts it in the session's time zone, so such a copy must
// run in the server's own zone; any other runs in '+00:00'.
func (m Mapping) CrossesZones() bool {
	for _, p := range m.Pairs {
		if (p.Original.kind() == kindTimestamp) != (p.Shadow.kind() == kindTimestamp) {
			return true
		}
	}
	return false
}

// MakesDates tells whether something that is no date turns into one. The
// session's sql_mode then decides whether it may become a zero date.
func (m Mapping) MakesDates() bool {
	for _, p := range m.Pairs {
		if p.Shadow.isDate() && !p.Original.isDate() {
			return true
		}
	}
	return false
}

func (c Column) isDate() bool {
	return c.kind() == kindDate || c.kind() == kindDatetime || c.kind() == kindTimestamp
}

// pairOf finds the pair fed by an original column.
func (m Mapping) pairOf(original string) (Pair, bool) {
	for _, p := range m.Pairs {
		if strings.EqualFold(p.Original.Name, original) {
			return p, true
		}
	}
	return Pair{}, false
}

// pairTo finds the pair that feeds a shadow column.
func (m Mapping) pairTo(shadow string) (Pair, bool) {
	for _, p := range m.Pairs {
		if strings.EqualFold(p.Shadow.Name, shadow) {
			return p, true
		}
	}
	return Pair{}, false
}

// InsertColumns are the shadow columns that a copy writes, in order.
func (m Mapping) InsertColumns() []string {
	var cols []string
	for _, p := range m.Pairs {
		cols = append(cols, p.Shadow.Name)
	}
	for _, f := range m.Fills {
		cols = append(cols, f.Column.Name)
	}
	return cols
}

// SelectExprs are the expressions over the original that feed InsertColumns.
func (m Mapping) SelectExprs() []string {
	var exprs []string
	for _, p := range m.Pairs {
		exprs = append(exprs, p.selectExpr())
	}
	for _, f := range m.Fills {
		exprs = append(exprs, f.Expr)
	}
	return exprs
}

func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
