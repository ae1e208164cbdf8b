package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestNewMapping(t *testing.T) {
	base := table("t", columns(column("id", "int"), column("a", "int"), column("b", "varchar(5)", "null")), "PRIMARY(id)")
	for _, c := range []struct {
		name     string
		original ddl.Table
		shadow   []ddl.Column
		alter    ddl.Alter
		insert   []string
		sel      []string
	}{
		{"OK same", base, base.Columns, ddl.Alter{}, []string{"id", "a", "b"}, []string{"`id`", "`a`", "`b`"}},
		{"OK reordered", base, columns(column("b", "text"), column("id", "bigint"), column("a", "int")), ddl.Alter{},
			[]string{"b", "id", "a"}, []string{"`b`", "`id`", "`a`"}},
		{"OK swapped names", base, columns(column("id", "int"), column("b", "int"), column("a", "varchar(5)")),
			ddl.Alter{Renames: []ddl.Rename{{"a", "b"}, {"b", "a"}}}, []string{"id", "b", "a"}, []string{"`id`", "`a`", "`b`"}},
		{"OK chain of names", base, columns(column("id", "int"), column("b", "int"), column("c", "varchar(5)")),
			ddl.Alter{Renames: []ddl.Rename{{"a", "b"}, {"b", "c"}}}, []string{"id", "b", "c"}, []string{"`id`", "`a`", "`b`"}},
		{"OK letter case", base, columns(column("ID", "int"), column("A", "int"), column("b", "varchar(5)")),
			ddl.Alter{Renames: []ddl.Rename{{"Id", "ID"}, {"a", "A"}}}, []string{"ID", "A", "b"}, []string{"`id`", "`a`", "`b`"}},
		{"OK renamed and added again", base, columns(column("id", "int"), column("old", "int"), column("a", "int", "default"), column("b", "varchar(5)")),
			ddl.Alter{Renames: []ddl.Rename{{"a", "old"}}, Added: []string{"A"}}, []string{"id", "old", "b"}, []string{"`id`", "`a`", "`b`"}},
		{"OK dropped and added again", base, columns(column("id", "int"), column("b", "varchar(5)"), column("a", "varchar(9)", "null")),
			ddl.Alter{Dropped: []string{"a"}, Added: []string{"a"}}, []string{"id", "b"}, []string{"`id`", "`b`"}},
		{"OK defaults are left to the server", base, append(columns(column("n", "int", "null"), column("u", "char(36)", "uuid")), base.Columns...),
			ddl.Alter{Added: []string{"n", "u"}}, []string{"id", "a", "b"}, []string{"`id`", "`a`", "`b`"}},
		{"OK generated to plain", table("t", columns(column("id", "int"), column("a", "int", "virtual"))),
			columns(column("id", "int"), column("a", "int")), ddl.Alter{}, []string{"id", "a"}, []string{"`id`", "`a`"}},
		{"OK plain to generated", base, columns(column("id", "int"), column("a", "int", "stored"), column("b", "varchar(5)")), ddl.Alter{},
			[]string{"id", "b"}, []string{"`id`", "`b`"}},
		{"OK implicit values", base, append(base.Columns[:3:3], column("i", "int unsigned"), column("d", "decimal(5,2)"), column("f", "double"),
			column("y", "year"), column("x", "bit(3)"), column("v", "varchar(3)"), column("bl", "longblob"), column("e", "enum('q','r')"), column("s", "set('q')"),
			column("da", "date"), column("dt", "datetime(6)"), column("ts", "timestamp"), column("ti", "time(3)"), column("j", "json")),
			ddl.Alter{Added: []string{"i", "d", "f", "y", "x", "v", "bl", "e", "s", "da", "dt", "ts", "ti", "j"}},
			[]string{"id", "a", "b", "i", "d", "f", "y", "x", "v", "bl", "e", "s", "da", "dt", "ts", "ti", "j"},
			[]string{"`id`", "`a`", "`b`", "0", "0", "0", "0", "0", "''", "''", "1", "0", "'0000-00-00'", "'0000-00-00 00:00:00'",
				"'0000-00-00 00:00:00'", "'00:00:00'", "CAST('null' AS JSON)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ddl.NewMapping(c.original, table("_t_new", c.shadow), c.alter)
			noError(t, err)
			same(t, m.InsertColumns(), c.insert)
			same(t, m.SelectExprs(), c.sel)
			for _, f := range m.Fills {
				zero := f.Column.Name == "da" || f.Column.Name == "dt" || f.Column.Name == "ts"
				if f.ZeroDate != zero {
					t.Errorf("fill of %s: got ZeroDate %v, want %v", f.Column.Name, f.ZeroDate, zero)
				}
			}
		})
	}
}

func TestNewMappingErrors(t *testing.T) {
	base := table("t", columns(column("id", "int"), column("a", "int", "null")), "PRIMARY(id)")
	for _, c := range []struct {
		name    string
		shadow  []ddl.Column
		alter   ddl.Alter
		refusal bool
		want    string
	}{
		{"ErrNumbered", append(base.Columns[:2:2], column("n", "int", "auto")), ddl.Alter{Added: []string{"n"}}, true, "ADD COLUMN `n` AUTO_INCREMENT"},
		{"ErrNumberedNulls", columns(column("id", "int"), column("a", "int", "auto")), ddl.Alter{}, true, "nullable column `a`"},
		{"ErrNoValue", append(base.Columns[:2:2], column("g", "point")), ddl.Alter{Added: []string{"g"}}, true, "ADD COLUMN `g` point NOT NULL"},
		{"ErrNothingKept", columns(column("z", "int", "null")), ddl.Alter{Added: []string{"z"}, Dropped: []string{"id", "a"}}, true, "no column"},
		{"ErrUnexplained", append(base.Columns[:2:2], column("z", "int")), ddl.Alter{}, false, "`z` of the shadow comes from nowhere"},
		{"ErrLost", base.Columns[:1], ddl.Alter{}, false, "`a` is neither in the shadow nor dropped"},
		{"ErrUnknownRename", append(base.Columns[:2:2], column("z", "int")), ddl.Alter{Renames: []ddl.Rename{{"y", "z"}}}, false, "renamed column `y`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ddl.NewMapping(base, table("_t_new", c.shadow), c.alter)
			if c.refusal {
				refused(t, err, c.want)
			} else {
				fails(t, err, c.want)
			}
		})
	}
}

func TestCrossesZones(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to string
		want     bool
	}{
		{"OK timestamp stays", "timestamp", "timestamp(6)", false},
		{"OK datetime stays", "datetime", "date", false},
		{"OK timestamp to datetime", "timestamp", "datetime", true},
		{"OK datetime to timestamp", "datetime", "timestamp", true},
		{"OK timestamp to text", "timestamp", "varchar(30)", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := ddl.Mapping{Pairs: []ddl.Pair{{Original: column("c", c.from), Shadow: column("c", c.to)}}}
			same(t, m.CrossesZones(), c.want)
		})
	}
}
