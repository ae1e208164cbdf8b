package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestDuplicable(t *testing.T) {
	id, a, b := column("id", "int"), column("a", "varchar(9)"), column("b", "int")
	base := table("t", columns(id, a, b), "PRIMARY(id)", "uniq u(a)")
	with := func(a ddl.Column, keys ...string) ddl.Table {
		return table("s", columns(id, a, b), append([]string{"PRIMARY(id)"}, keys...)...)
	}
	for _, c := range []struct {
		name     string
		original ddl.Table
		shadow   ddl.Table
		want     []string
	}{
		{"OK same", base, with(a, "uniq u(a)"), nil},
		{"OK added", base, with(a, "uniq u(a)", "uniq v(b)"), []string{"v: the ALTER adds it"}},
		{"OK wider key", base, with(a, "uniq u(a,b)"), nil},
		{"OK wider key than the primary", base, with(a, "uniq v(id,b)"), nil},
		{"OK narrower key", table("t", columns(id, a, b), "PRIMARY(id)", "uniq u(a,b)"), with(a, "uniq u(a)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK shorter prefix", base, with(a, "uniq u(a:5)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK longer than a prefix", table("t", columns(id, a, b), "PRIMARY(id)", "uniq u(a:5)"), with(a, "uniq u(a)"), nil},
		{"OK other collation", base, with(column("a", "varchar(9)", "utf8mb4_general_ci"), "uniq u(a)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK finer collation", table("t", columns(id, column("a", "varchar(9)", "latin1_swedish_ci"), b), "PRIMARY(id)", "uniq u(a)"), with(column("a", "varchar(9)", "utf8mb4_bin"), "uniq u(a)"), nil},
		{"OK trailing spaces no longer count", base, with(column("a", "varchar(9)", "utf8mb4_bin"), "uniq u(a)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK doubles in the vendor's set", table("t", columns(id, column("a", "varchar(9)", "cp932_bin"), b), "PRIMARY(id)", "uniq u(a)"), with(column("a", "varchar(9)", "utf8mb4_bin"), "uniq u(a)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK longer text", base, with(column("a", "varchar(20)"), "uniq u(a)"), nil},
		{"OK shorter text without padding", base, with(column("a", "varchar(5)"), "uniq u(a)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK narrower integer", table("t", columns(id, a, column("b", "bigint")), "PRIMARY(id)", "uniq u(b)"), with(a, "uniq u(b)"), nil},
		{"OK rounded", table("t", columns(id, a, column("b", "decimal(9,3)")), "PRIMARY(id)", "uniq u(b)"), table("s", columns(id, a, column("b", "decimal(9,2)")), "PRIMARY(id)", "uniq u(b)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK day only", table("t", columns(id, column("b", "datetime")), "PRIMARY(id)", "uniq u(b)"), table("s", columns(id, column("b", "date")), "PRIMARY(id)", "uniq u(b)"), []string{"u: the ALTER changes its columns, or how they compare"}},
		{"OK same expression", table("t", columns(id, a), "PRIMARY(id)", "uniq u(expr lower(`a`))"), table("s", columns(id, a), "PRIMARY(id)", "uniq u(expr lower(`a`))"), nil},
		{"OK generated column", table("t", columns(id, a, column("g", "int", "virtual")), "PRIMARY(id)", "uniq u(g)"), table("s", columns(id, a, column("g", "int", "virtual")), "PRIMARY(id)", "uniq u(g)"), nil},
		{"OK generated from a changed column", table("t", columns(id, a, column("g", "int", "virtual")), "PRIMARY(id)", "uniq u(g)"), table("s", columns(id, column("a", "int"), column("g", "int", "virtual")), "PRIMARY(id)", "uniq u(g)"), []string{"u: the ALTER changes its columns, or how they compare"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := plan(c.original, c.shadow)
			noError(t, err)
			var got []string
			for _, u := range p.Duplicable {
				got = append(got, u.Key.Name+": "+u.Why)
			}
			same(t, got, c.want)
			same(t, p.MayDuplicate(), c.want != nil)
		})
	}
	t.Run("ErrExpression", func(t *testing.T) {
		_, err := plan(base, with(a, "uniq x(expr lower(`a`))"))
		refused(t, err, "unique key `x`")
	})
}
