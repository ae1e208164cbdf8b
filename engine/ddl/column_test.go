package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestQuote(t *testing.T) {
	same(t, ddl.TableName{Schema: "a`b", Name: "c d"}.Quoted(), "`a``b`.`c d`")
	same(t, orders.String(), "shop.orders")
	same(t, ddl.QuoteString("it's \\ a\x00\n"), `'it''s \\ a\0\n'`)
}

func TestColumn(t *testing.T) {
	for _, c := range []struct {
		column   ddl.Column
		unsigned bool
		length   int
		scale    int
		members  []string
	}{
		{column("c", "int"), false, 0, 0, nil},
		{column("c", "int unsigned"), true, 0, 0, nil},
		{column("c", "bigint(20) unsigned zerofill"), true, 20, 0, nil},
		{column("c", "decimal(65,30) unsigned"), true, 65, 30, nil},
		{column("c", "varchar(255)"), false, 255, 0, nil},
		{column("c", "datetime(6)"), false, 6, 0, nil},
		{column("c", "enum('a','b unsigned','it''s',' x,y) ','')"), false, 0, 0, []string{"a", "b unsigned", "it's", " x,y) ", ""}},
		{column("c", "set('1','2')"), false, 0, 0, []string{"1", "2"}},
	} {
		t.Run("OK "+c.column.ColumnType, func(t *testing.T) {
			same(t, c.column.Unsigned(), c.unsigned)
			same(t, c.column.Length(), c.length)
			same(t, c.column.Scale(), c.scale)
			same(t, c.column.Members(), c.members)
		})
	}
}

func TestColumnAttributes(t *testing.T) {
	for _, c := range []struct {
		name       string
		column     ddl.Column
		generation ddl.Generation
		invisible  bool
		hasDefault bool
	}{
		{"OK plain", column("c", "int"), ddl.Plain, false, false},
		{"OK null", column("c", "int", "null"), ddl.Plain, false, true},
		{"OK default", column("c", "int", "default"), ddl.Plain, false, true},
		{"OK expression default", column("c", "int", "uuid"), ddl.Plain, false, true},
		{"OK virtual", column("c", "int", "virtual"), ddl.Virtual, false, true},
		{"OK stored, invisible", column("c", "int", "stored"), ddl.Stored, true, true},
		{"OK numbered", column("c", "int", "auto"), ddl.Plain, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, c.column.Generation(), c.generation)
			same(t, c.column.Invisible(), c.invisible)
			same(t, c.column.HasDefault(), c.hasDefault)
		})
	}
}
