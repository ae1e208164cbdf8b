package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

// plan maps columns of the same name and plans the migration.
func plan(original, shadow ddl.Table) (ddl.Plan, error) {
	var a ddl.Alter
	for _, o := range original.Columns {
		if _, ok := shadow.Column(o.Name); !ok {
			a.Dropped = append(a.Dropped, o.Name)
		}
	}
	for _, s := range shadow.Columns {
		if _, ok := original.Column(s.Name); !ok {
			a.Added = append(a.Added, s.Name)
		}
	}
	return ddl.NewPlan(original, shadow, a)
}

func TestChooseKey(t *testing.T) {
	id, a, b := column("id", "int"), column("a", "varchar(9)"), column("b", "int", "null")
	for _, c := range []struct {
		name     string
		original ddl.Table
		shadow   ddl.Table
		want     string
	}{
		{"OK primary", table("t", columns(id, a), "PRIMARY(id)", "uniq u(a)"), table("s", columns(id, a), "PRIMARY(id)", "uniq u(a)"), "PRIMARY"},
		{"OK unique without primary", table("t", columns(id, a, b), "uniq n(b)", "uniq u(a)"), table("s", columns(id, a, b), "uniq u(a)"), "u"},
		{"OK primary becomes unique", table("t", columns(id, a), "PRIMARY(id)"), table("s", columns(id, a), "PRIMARY(a)", "uniq k(id)"), "PRIMARY"},
		{"OK other key where the primary goes", table("t", columns(id, a), "PRIMARY(id)", "uniq u(a)"), table("s", columns(a), "PRIMARY(a)"), "u"},
		{"OK columns in another order", table("t", columns(id, a), "PRIMARY(id,a)"), table("s", columns(id, a), "PRIMARY(a,id)"), "PRIMARY"},
		{"OK wider integer", table("t", columns(id), "PRIMARY(id)"), table("s", columns(column("id", "bigint unsigned")), "PRIMARY(id)"), "PRIMARY"},
		{"OK other collation", table("t", columns(a), "PRIMARY(a)"), table("s", columns(column("a", "varchar(20)", "latin1_bin")), "PRIMARY(a)"), "PRIMARY"},
		{"OK char to varchar", table("t", columns(column("a", "char(9)")), "PRIMARY(a)"), table("s", columns(a), "PRIMARY(a)"), "PRIMARY"},
		{"OK members appended", table("t", columns(column("a", "enum('x','y')")), "PRIMARY(a)"), table("s", columns(column("a", "enum('x','y','z')")), "PRIMARY(a)"), "PRIMARY"},
		{"OK generated to plain", table("t", columns(id, column("g", "int", "stored")), "PRIMARY(g)"), table("s", columns(id, column("g", "int")), "PRIMARY(g)"), "PRIMARY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := plan(c.original, c.shadow)
			noError(t, err)
			same(t, p.Key.Name, c.want)
		})
	}
	for _, c := range []struct {
		name     string
		original ddl.Table
		shadow   ddl.Table
		want     string
	}{
		{"ErrNoKey", table("t", columns(id, a), "key k(id)"), table("s", columns(id, a), "key k(id)"), "no primary or unique key"},
		{"ErrNullable", table("t", columns(id, b), "uniq u(b)"), table("s", columns(id, b), "uniq u(b)"), "`u`: its column `b` can be NULL"},
		{"ErrPrefix", table("t", columns(id, a), "uniq u(a:5)"), table("s", columns(id, a), "uniq u(a:5)"), "only a prefix of `a`"},
		{"ErrExpression", table("t", columns(id, a), "uniq u(expr lower(`a`))"), table("s", columns(id, a), "uniq u(expr lower(`a`))"), "the expression lower(`a`)"},
		{"ErrFloat", table("t", columns(column("f", "double")), "PRIMARY(f)"), table("s", columns(column("f", "double")), "PRIMARY(f)"), "`f` is double, which has no exact text"},
		{"ErrDropped", table("t", columns(id, a), "PRIMARY(id)"), table("s", columns(a), "PRIMARY(a)"), "drops its column `id`"},
		{"ErrGenerated", table("t", columns(id, a), "PRIMARY(id)"), table("s", columns(column("id", "int", "stored"), a), "PRIMARY(id)"), "makes it a generated one"},
		{"ErrNotUnique", table("t", columns(id, a), "PRIMARY(id)"), table("s", columns(id, a), "PRIMARY(a,id)"), "no unique key of the shadow begins with its columns"},
		{"ErrDecimal", table("t", columns(column("d", "decimal(9,3)")), "PRIMARY(d)"), table("s", columns(column("d", "decimal(9,2)")), "PRIMARY(d)"), "from decimal(9,3) to decimal(9,2)"},
		{"ErrFraction", table("t", columns(column("d", "datetime(6)")), "PRIMARY(d)"), table("s", columns(column("d", "datetime")), "PRIMARY(d)"), "can't be undone"},
		{"ErrOtherKind", table("t", columns(id), "PRIMARY(id)"), table("s", columns(column("id", "varchar(20)")), "PRIMARY(id)"), "from int to varchar(20) utf8mb4_0900_ai_ci"},
		{"ErrNarrowText", table("t", columns(a), "PRIMARY(a)"), table("s", columns(column("a", "varchar(3)")), "PRIMARY(a)"), "can't be undone"},
		{"ErrVarcharToChar", table("t", columns(a), "PRIMARY(a)"), table("s", columns(column("a", "char(9)")), "PRIMARY(a)"), "can't be undone"},
		{"ErrBinary", table("t", columns(column("a", "binary(4)")), "PRIMARY(a)"), table("s", columns(column("a", "binary(8)")), "PRIMARY(a)"), "can't be undone"},
		{"ErrMembers", table("t", columns(column("a", "enum('x','y')")), "PRIMARY(a)"), table("s", columns(column("a", "enum('y','x')")), "PRIMARY(a)"), "can't be undone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan(c.original, c.shadow)
			refused(t, err, c.want)
		})
	}
}

func TestTuple(t *testing.T) {
	p, err := plan(table("t", columns(column("x", "int"), column("k", "varchar(5)", "latin1_bin"), column("id", "int")), "PRIMARY(id,k)"),
		table("s", columns(column("x", "int"), column("k", "varchar(5)", "latin1_bin"), column("id", "int")), "PRIMARY(id,k)"))
	noError(t, err)
	want := ddl.Tuple{"7", "_latin1 X'61'"}
	same(t, p.Key.Ordinals(), []int{2, 1})
	same(t, p.Key.BorderExprs(), []string{"CAST(`id` AS CHAR)", "HEX(`k`)"})
	t.Run("OK row image", func(t *testing.T) {
		got, err := p.Key.Tuple([]any{int32(1), "a", int32(7)})
		noError(t, err)
		same(t, got, want)
	})
	t.Run("OK values", func(t *testing.T) {
		got, err := p.Key.KeyTuple([]any{int32(7), "a"})
		noError(t, err)
		same(t, got, want)
		same(t, got.String(), "7, _latin1 X'61'")
		same(t, p.Key.Describe(got), "`id` = 7, `k` = _latin1 X'61'")
	})
	t.Run("OK for a person", func(t *testing.T) {
		names := columns(column("k", "varchar(9)"), column("b", "varbinary(9)"))
		p, err := plan(table("t", names, "PRIMARY(k,b)"), table("s", names, "PRIMARY(k,b)"))
		noError(t, err)
		for text, want := range map[string]string{
			"Zoë ":    "'Zoë '",
			"":        "''",
			"it's":    "_utf8mb4 X'69742773'",
			"a\\":     "_utf8mb4 X'615C'",
			"a\u202e": "_utf8mb4 X'61E280AE'",
		} {
			got, err := p.Key.KeyTuple([]any{text, "a"})
			noError(t, err)
			same(t, p.Key.Describe(got), "`k` = "+want+", `b` = _binary X'61'")
		}
	})
	t.Run("OK border", func(t *testing.T) {
		got, err := p.Key.BorderTuple([][]byte{[]byte("7"), []byte("61")})
		noError(t, err)
		same(t, got, want)
	})
	t.Run("ErrShortRow", func(t *testing.T) {
		_, err := p.Key.Tuple([]any{int32(1)})
		fails(t, err, "the row image has 1 columns, `id` is number 3")
	})
	t.Run("ErrValue", func(t *testing.T) {
		_, err := p.Key.Tuple([]any{int32(1), nil, int32(7)})
		fails(t, err, "`k`: unexpected <nil>")
	})
	t.Run("ErrBorder", func(t *testing.T) {
		_, err := p.Key.BorderTuple(nil)
		fails(t, err, "0 columns for a key of 2")
	})
}
