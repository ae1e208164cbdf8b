package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// Statement is a write given as SQL: an INSERT with VALUES, or an UPDATE or
// DELETE that names its rows by their keys. The error says why the ledger
// could not know what any other does.
func Statement(t fixtures.Table, sql string) (Write, error) {
	sql = strings.TrimSpace(sql)
	w := Write{SQL: sql}
	parsed, err := fixtures.ParseStatement(sql)
	if err != nil {
		return w, err
	}
	switch s := parsed.(type) {
	case *sqlparser.Insert:
		w.Changes, err = inserted(t, s)
	case *sqlparser.Update:
		w.Changes, err = updated(t, s)
	case *sqlparser.Delete:
		w.Changes, err = deleted(t, s)
	default:
		err = errors.New("want INSERT, UPDATE or DELETE")
	}
	return w, err
}

// MustStatement is Statement for SQL that is known to be right: it panics on
// other.
func MustStatement(t fixtures.Table, sql string) Write {
	w, err := Statement(t, sql)
	if err != nil {
		panic(fmt.Sprintf("workload: %q: %v", sql, err))
	}
	return w
}

func inserted(t fixtures.Table, s *sqlparser.Insert) ([]history.Change, error) {
	rows, err := t.InsertedRows(s)
	if err != nil {
		return nil, err
	}
	var changes []history.Change
	for i, row := range rows {
		for _, name := range t.Key {
			if row[name] == nil {
				return nil, fmt.Errorf("row %d has no value for the key column %s", i+1, name)
			}
		}
		changes = append(changes, history.Change{Kind: history.Insert, Key: KeyOf(t, row), Set: row})
	}
	return changes, nil
}

func updated(t fixtures.Table, s *sqlparser.Update) ([]history.Change, error) {
	if s.With != nil || bool(s.Ignore) || s.OrderBy != nil || s.Limit != nil {
		return nil, errors.New("want a plain UPDATE … SET … WHERE, without WITH, IGNORE, ORDER BY and LIMIT")
	}
	if err := t.On(s.TableExprs...); err != nil {
		return nil, err
	}
	set, add, err := assigned(t, s.Exprs)
	if err != nil {
		return nil, err
	}
	keys, err := named(t, s.Where)
	if err != nil {
		return nil, err
	}
	var changes []history.Change
	for _, key := range keys {
		c := history.Change{Kind: history.Update, Key: key, Set: set, Add: add}
		row := keyRow(t, key)
		for _, name := range t.Key {
			if to, moves := set[name]; moves {
				row[name], c.Kind = to, history.Move
			}
		}
		if c.Kind == history.Move {
			c.NewKey = KeyOf(t, row)
		}
		changes = append(changes, c)
	}
	if changes[0].Kind == history.Move && len(changes) > 1 {
		return nil, errors.New("the statement gives several rows one key")
	}
	return changes, nil
}

func deleted(t fixtures.Table, s *sqlparser.Delete) ([]history.Change, error) {
	if s.With != nil || bool(s.Ignore) || s.OrderBy != nil || s.Limit != nil || len(s.Partitions) > 0 || len(s.Targets) > 0 {
		return nil, errors.New("want a plain DELETE FROM … WHERE, without WITH, IGNORE, ORDER BY and LIMIT")
	}
	if err := t.On(s.TableExprs...); err != nil {
		return nil, err
	}
	keys, err := named(t, s.Where)
	if err != nil {
		return nil, err
	}
	var changes []history.Change
	for _, key := range keys {
		changes = append(changes, history.Change{Kind: history.Delete, Key: key})
	}
	return changes, nil
}

// assigned splits what SET does into values and sums: a = 1, a = a + 1.
func assigned(t fixtures.Table, exprs sqlparser.UpdateExprs) (history.Row, map[string]int64, error) {
	set, add := history.Row{}, map[string]int64{}
	for _, e := range exprs {
		column := e.Name.Name.String()
		if sum, ok := e.Expr.(*sqlparser.BinaryExpr); ok {
			n, err := summand(column, sum)
			if err != nil {
				return nil, nil, err
			}
			name, err := t.Counter(column)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(t.Key, name) {
				return nil, nil, fmt.Errorf("give the key column %s a value, not a sum", name)
			}
			add[name] = n
			continue
		}
		name, value, err := t.Value(column, e.Expr)
		if err != nil {
			return nil, nil, err
		}
		set[name] = value
	}
	if len(add) == 0 {
		add = nil
	}
	return set, add, nil
}

// summand reads a + n and a - n, where a is the column itself.
func summand(column string, e *sqlparser.BinaryExpr) (int64, error) {
	left, ok := e.Left.(*sqlparser.ColName)
	if ok && left.Name.EqualString(column) && (e.Operator == sqlparser.PlusOp || e.Operator == sqlparser.MinusOp) {
		value, err := fixtures.Literal(e.Right)
		if err == nil && value != nil {
			if n, err := strconv.ParseInt(*value, 10, 64); err == nil && n != math.MinInt64 {
				if e.Operator == sqlparser.MinusOp {
					n = -n
				}
				return n, nil
			}
		}
	}
	return 0, fmt.Errorf("want %s = a value, or %s = %s + n: what %s gives isn't known beforehand", column, column, column, sqlparser.String(e))
}

// named returns the keys that a WHERE names: k = 1, k IN (1, 2), and for a key
// of several columns a = 1 AND b = 2.
func named(t fixtures.Table, where *sqlparser.Where) ([]history.Key, error) {
	want := fmt.Errorf("want WHERE %s: any other condition leaves open which rows the statement reaches", strings.Join(t.Key, " = … AND ")+" = …")
	if where == nil {
		return nil, want
	}
	values := map[string][]string{}
	for _, e := range sqlparser.SplitAndExpression(nil, where.Expr) {
		c, ok := e.(*sqlparser.ComparisonExpr)
		if !ok {
			return nil, want
		}
		left, ok := c.Left.(*sqlparser.ColName)
		if !ok {
			return nil, want
		}
		var list []sqlparser.Expr
		switch tuple, isTuple := c.Right.(sqlparser.ValTuple); {
		case c.Operator == sqlparser.EqualOp:
			list = []sqlparser.Expr{c.Right}
		case c.Operator == sqlparser.InOp && isTuple && len(t.Key) == 1:
			list = tuple
		default:
			return nil, want
		}
		for _, e := range list {
			name, value, err := t.Value(left.Name.String(), e)
			if err != nil {
				return nil, err
			}
			if value == nil || !slices.Contains(t.Key, name) || len(list) == 1 && len(values[name]) > 0 {
				return nil, want
			}
			values[name] = append(values[name], *value)
		}
	}
	if len(values) != len(t.Key) {
		return nil, want
	}
	if len(t.Key) == 1 {
		var keys []history.Key
		for _, v := range values[t.Key[0]] {
			keys = append(keys, history.Key(v))
		}
		return keys, nil
	}
	row := history.Row{}
	for _, name := range t.Key {
		row[name] = &values[name][0]
	}
	return []history.Key{KeyOf(t, row)}, nil
}
