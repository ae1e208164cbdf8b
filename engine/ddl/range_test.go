package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestRangeCond(t *testing.T) {
	one := []ddl.KeyColumn{{Expr: "`a`"}}
	two := []ddl.KeyColumn{{Expr: "`a`"}, {Expr: "`b`"}}
	for _, c := range []struct {
		name string
		cols []ddl.KeyColumn
		r    ddl.Range
		want string
	}{
		{"OK open", one, ddl.Range{}, "TRUE"},
		{"OK one column", one, ddl.Range{After: ddl.Tuple{"1"}, UpTo: ddl.Tuple{"9"}}, "`a` > 1 AND `a` <= 9"},
		{"OK no end", one, ddl.Range{After: ddl.Tuple{"1"}}, "`a` > 1"},
		{"OK no start", two, ddl.Range{UpTo: ddl.Tuple{"1", "2"}}, "(`a` < 1 OR `a` = 1 AND `b` <= 2)"},
		{"OK two columns", two, ddl.Range{After: ddl.Tuple{"1", "2"}, UpTo: ddl.Tuple{"3", "4"}},
			"(`a` > 1 OR `a` = 1 AND `b` > 2) AND (`a` < 3 OR `a` = 3 AND `b` <= 4)"},
		{"OK three columns", append(two[:2:2], ddl.KeyColumn{Expr: "`c`"}), ddl.Range{After: ddl.Tuple{"1", "2", "3"}},
			"(`a` > 1 OR `a` = 1 AND `b` > 2 OR `a` = 1 AND `b` = 2 AND `c` > 3)"},
		{"OK descending", []ddl.KeyColumn{{Expr: "`a`"}, {Expr: "`b`", Desc: true}}, ddl.Range{After: ddl.Tuple{"1", "2"}, UpTo: ddl.Tuple{"3", "4"}},
			"(`a` > 1 OR `a` = 1 AND `b` < 2) AND (`a` < 3 OR `a` = 3 AND `b` >= 4)"},
		{"OK enum", []ddl.KeyColumn{{Expr: "`e`", Enum: 4}}, ddl.Range{After: ddl.Tuple{"1"}, UpTo: ddl.Tuple{"2"}},
			"`e` IN (2, 3, 4) AND `e` IN (0, 1, 2)"},
		{"OK enum at its end", []ddl.KeyColumn{{Expr: "`e`", Enum: 4}, {Expr: "`a`"}}, ddl.Range{After: ddl.Tuple{"4", "7"}},
			"(`e` IN (5) OR `e` = 4 AND `a` > 7)"},
		{"OK enum alone at its end", []ddl.KeyColumn{{Expr: "`e`", Enum: 4}}, ddl.Range{After: ddl.Tuple{"4"}}, "`e` IN (5)"},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, ddl.RangeCond(c.cols, c.r), c.want) })
	}
}

func TestInKeys(t *testing.T) {
	same(t, ddl.InKeys([]ddl.KeyColumn{{Expr: "`a`"}}, []ddl.Tuple{{"1"}, {"2"}}), "`a` IN (1, 2)")
	same(t, ddl.InKeys([]ddl.KeyColumn{{Expr: "`a`"}, {Expr: "`b`"}}, []ddl.Tuple{{"1", "'x'"}}), "(`a`, `b`) IN ((1, 'x'))")
	same(t, ddl.InKeys([]ddl.KeyColumn{{Expr: "`e`", Code: true}}, []ddl.Tuple{{"1"}, {"2"}}), "`e` IN (1, 2)")
	same(t, ddl.InKeys([]ddl.KeyColumn{{Expr: "`e`", Code: true}, {Expr: "`a`"}}, []ddl.Tuple{{"1", "2"}, {"3", "4"}}),
		"(`e` = 1 AND `a` = 2 OR `e` = 3 AND `a` = 4)")
}
