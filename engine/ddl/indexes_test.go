package ddl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/engine/ddl"
)

func TestDeferrable(t *testing.T) {
	btree := func(name string, unique bool, columns ...string) ddl.Key {
		k := ddl.Key{Name: name, Unique: unique, Primary: name == "PRIMARY", Type: "BTREE"}
		for _, c := range columns {
			k.Parts = append(k.Parts, ddl.KeyPart{Column: c})
		}
		return k
	}
	table := ddl.Table{
		Name: ddl.TableName{Schema: "s", Name: "_t_new"},
		Columns: []ddl.Column{
			{Name: "id", DataType: "int", ColumnType: "int"}, {Name: "n", DataType: "int", ColumnType: "int", Extra: "auto_increment"},
			{Name: "a", DataType: "int", ColumnType: "int"}, {Name: "t", DataType: "text", ColumnType: "text"},
		},
		Keys: []ddl.Key{
			btree("PRIMARY", true, "id"), btree("u", true, "a"), btree("n", false, "n"), btree("a`b", false, "a", "id"), btree("early", false, "a"), btree("hidden", false, "a"),
			{Name: "f", Type: "FULLTEXT", Parts: []ddl.KeyPart{{Column: "t"}}},
			{Name: "e", Type: "BTREE", Parts: []ddl.KeyPart{{Expr: "(`a` + 1)"}}},
		},
		CreateSQL: "CREATE TABLE `_t_new` (\n  `id` int NOT NULL,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`a`),\n  KEY `n` (`n`),\n" +
			"  KEY `early` (`a`),\n  KEY `e` (((`a` + 1))),\n  KEY `hidden` (`a`) /*!80000 INVISIBLE */,\n  KEY `a``b` (`a`,`id`) COMMENT 'one, two',\n  FULLTEXT KEY `f` (`t`)\n) ENGINE=InnoDB",
	}
	// In the order of the definition, and without what stands before one that
	// stays.
	got := ddl.Deferrable(table)
	want := []ddl.Index{
		{Name: "hidden", Definition: "KEY `hidden` (`a`) /*!80000 INVISIBLE */"},
		{Name: "a`b", Definition: "KEY `a``b` (`a`,`id`) COMMENT 'one, two'"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deferrable (-want +got):\n%s", diff)
	}
	if got, want := ddl.DropIndexes(table.Name, got), "ALTER TABLE `s`.`_t_new` DROP KEY `hidden`, DROP KEY `a``b`"; got != want {
		t.Errorf("drop: got %s, want %s", got, want)
	}
	if got, want := ddl.AddIndexes(table.Name, got), "ALTER TABLE `s`.`_t_new` ADD KEY `hidden` (`a`) /*!80000 INVISIBLE */, "+
		"ADD KEY `a``b` (`a`,`id`) COMMENT 'one, two', ALGORITHM=INPLACE, LOCK=NONE"; got != want {
		t.Errorf("add: got %s, want %s", got, want)
	}
}
