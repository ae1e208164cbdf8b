package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestWithoutIndexes(t *testing.T) {
	with := ddl.Table{CreateSQL: "CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `KEY` int,\n  PRIMARY KEY (`id`),\n  KEY `a` (`KEY`),\n  KEY `b` (`KEY`,`id`)\n) ENGINE=InnoDB"}
	without := ddl.Table{CreateSQL: "CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `KEY` int,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB"}
	other := ddl.Table{CreateSQL: "CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `KEY` bigint,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB"}
	if got, want := ddl.WithoutIndexes(with), ddl.WithoutIndexes(without); got != want {
		t.Errorf("with and without indexes: got %q and %q, want them equal", got, want)
	}
	if ddl.WithoutIndexes(with) == ddl.WithoutIndexes(other) {
		t.Error("another column type makes no difference")
	}
}

func TestIndexCheck(t *testing.T) {
	for definition, ok := range map[string]bool{
		"KEY `a` (`b`)": true,
		"KEY `a``b` (`a` DESC,`id`) COMMENT 'one, two'":   true,
		"KEY `hidden` (`a`(10)) /*!80000 INVISIBLE */":    true,
		"KEY `a` (`b`), DROP COLUMN `c`":                  false,
		"KEY `a` (`b`), RENAME TO `u`":                    false,
		"COLUMN `c` INT":                                  false,
		"KEY `a` (`b`); DROP TABLE `t`":                   false,
		"":                                                false,
		"KEY `a` (`b`) PARTITION BY HASH (`b`)":           false,
		"KEY `a` (`b`), ADD KEY `c` (`d`), ENGINE=MyISAM": false,
	} {
		err := ddl.Index{Name: "a", Definition: definition}.Check("9.7.4")
		if (err == nil) != ok {
			t.Errorf("%q: got error %v, want none: %v", definition, err, ok)
		}
	}
}

func TestCanonical(t *testing.T) {
	name := ddl.TableName{Schema: "s", Name: "t"}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"MODIFY v BIGINT,ADD COLUMN w INT", " ALTER TABLE t  MODIFY v\nBIGINT , /* more */ ADD COLUMN w INT;", true},
		{"ADD COLUMN w VARCHAR(9) DEFAULT 'a b'", "ADD COLUMN w VARCHAR( 9 ) DEFAULT 'a b'", true},
		{"ADD COLUMN w VARCHAR(9) DEFAULT 'a b'", "ADD COLUMN w VARCHAR(9) DEFAULT 'a  b'", false},
		{"MODIFY v BIGINT, ALGORITHM=COPY", "MODIFY v BIGINT", true},
		{"ADD COLUMN w INT", "ADD COLUMN W INT", false},
	} {
		first, err := ddl.ParseAlter(name, c.a, "9.7.4")
		if err != nil {
			t.Fatal(err)
		}
		second, err := ddl.ParseAlter(name, c.b, "9.7.4")
		if err != nil {
			t.Fatal(err)
		}
		if got := first.Canonical() == second.Canonical(); got != c.same {
			t.Errorf("%q and %q: got same %v, want %v", first.Canonical(), second.Canonical(), got, c.same)
		}
	}
}
