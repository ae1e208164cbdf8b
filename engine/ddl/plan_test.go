package ddl_test

import (
	"strings"
	"testing"

	"rowproof/engine/ddl"
)

// TestPlanStatements keeps every statement for three kinds of keys in a
// golden file. They have been run on MySQL 9.7: each WHERE is an index range.
func TestPlanStatements(t *testing.T) {
	id, name := column("id", "int"), column("name", "varchar(9)", "latin1_swedish_ci")
	cases := []struct {
		name     string
		original ddl.Table
		shadow   ddl.Table
		keys     []ddl.Tuple
	}{
		{"one integer", table("t", columns(id, name), "PRIMARY(id)"),
			table("_t_new", columns(id, column("n`b", "char(3)"), name), "PRIMARY(id)"), []ddl.Tuple{{"3"}, {"9"}}},
		{"two columns, one descending", table("t", columns(column("e", "enum('x','y')"), id, name), "PRIMARY(e,id desc)"),
			table("_t_new", columns(column("e", "enum('x','y')"), column("id", "bigint"), name), "PRIMARY(e,id desc)"),
			[]ddl.Tuple{{"1", "3"}, {"2", "9"}}},
		{"text in another character set", table("t", columns(id, name), "PRIMARY(name)"),
			table("_t_new", columns(id, column("name", "varchar(9)", "utf8mb4_bin")), "PRIMARY(name)"),
			[]ddl.Tuple{{"_latin1 X'41'"}, {"_latin1 X'E9'"}}},
	}
	var out strings.Builder
	for _, c := range cases {
		p, err := plan(c.original, c.shadow)
		noError(t, err)
		r := ddl.Range{After: c.keys[0], UpTo: c.keys[1]}
		where, ok := p.Key.ShadowWhere(r)
		if !ok {
			where = "-"
		}
		out.WriteString("# " + c.name + "\n")
		for _, s := range []string{
			p.FirstBorder(), p.LastBorder(), p.NextBorder(nil, 1000), p.NextBorder(c.keys[0], 1), p.KeysIn(r),
			p.Copy(ddl.Replace, r), p.Copy(ddl.Insert, ddl.Range{After: c.keys[1]}), p.Apply(ddl.Replace, c.keys),
			p.DeleteGone(c.keys), p.DeleteKeys(c.keys), "shadow range: " + where, "join: " + p.Key.Join("o.", "s."),
		} {
			out.WriteString(s + "\n")
		}
	}
	golden(t, "statements.golden", out.String())
}
