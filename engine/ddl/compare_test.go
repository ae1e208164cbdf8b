package ddl_test

import (
	"fmt"
	"strings"
	"testing"

	"rowproof/engine/ddl"
)

// TestCompareExprs keeps the expressions for each pair of types in a golden
// file. Every pair has been checked against MySQL 9.7's own ALTER, with values
// at the edges of the types.
func TestCompareExprs(t *testing.T) {
	types := []ddl.Column{
		column("c", "tinyint(1)"), column("c", "int unsigned"), column("c", "bigint"), column("c", "int(7) unsigned zerofill"),
		column("c", "decimal(10,2)"), column("c", "decimal(65,30)"), column("c", "float"), column("c", "double"), column("c", "float(7,3)"),
		column("c", "bit(8)"), column("c", "year"),
		column("c", "char(10)"), column("c", "varchar(10)"), column("c", "varchar(3)", "latin1_swedish_ci"), column("c", "varchar(30)", "ucs2_bin"),
		column("c", "text"), column("c", "tinytext", "latin1_bin"),
		column("c", "binary(4)"), column("c", "varbinary(20)"), column("c", "blob"),
		column("c", "enum('a','b','z')"), column("c", "enum('z','a','b')"), column("c", "enum('a','b')"), column("c", "enum('A','1')"),
		column("c", "set('a','b','z')"), column("c", "set('z','a')"), column("c", "set('q')"),
		column("c", "date"), column("c", "datetime"), column("c", "datetime(6)"), column("c", "timestamp"), column("c", "timestamp(3)"),
		column("c", "time"), column("c", "time(6)"), column("c", "json"), column("c", "geometry"), column("c", "point"),
		column("c", "vector(3)"), column("c", "vector(8)"),
	}
	var out strings.Builder
	for _, o := range types {
		for _, s := range types {
			from, to, ok := ddl.CompareExprs(ddl.Pair{Original: o, Shadow: s})
			if !ok {
				continue
			}
			fmt.Fprintf(&out, "%s -> %s\n\t%s\n\t%s\n", typeName(o), typeName(s), from, to)
		}
	}
	golden(t, "compare.golden", out.String())
}

func typeName(c ddl.Column) string { return strings.TrimSpace(c.ColumnType + " " + c.Collation) }

func TestCompareExprsManyMembers(t *testing.T) {
	var members []string
	for i := range 501 {
		members = append(members, fmt.Sprintf("'m%d'", i))
	}
	o := column("c", "enum("+strings.Join(members, ",")+")")
	s := column("c", "enum('new',"+strings.Join(members, ",")+")")
	if _, _, ok := ddl.CompareExprs(ddl.Pair{Original: o, Shadow: s}); ok {
		t.Error("got an expression that names 501 members, want none")
	}
}
