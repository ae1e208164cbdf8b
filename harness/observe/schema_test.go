package observe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestSchema(t *testing.T) {
	db := server(t, topology.Spec{}).Source().DB
	const full = "id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(9) NOT NULL DEFAULT 'x' COMMENT 'it''s a, b', b INT, g INT AS (b + 1), KEY k (a, b), CHECK (b > 0)"
	for i, c := range []struct {
		name string
		want string
		got  string
		diff []string
	}{
		{"missing index", full, strings.Replace(full, ", KEY k (a, b)", "", 1), []string{"index k"}},
		{"index in another order", full, strings.Replace(full, "(a, b)", "(b, a)", 1), []string{"index k"}},
		{"unique index", full, strings.Replace(full, ", KEY k", ", UNIQUE KEY k", 1), []string{"index k"}},
		{"lost default", full, strings.Replace(full, " DEFAULT 'x'", "", 1), []string{"column a"}},
		{"nullable", full, strings.Replace(full, "NOT NULL DEFAULT 'x'", "DEFAULT 'x'", 1), []string{"column a"}},
		{"lost AUTO_INCREMENT", full, strings.Replace(full, " AUTO_INCREMENT", "", 1), []string{"column id", "option AUTO_INCREMENT"}},
		{"comment", full, strings.Replace(full, "a, b'", "a; b'", 1), []string{"column a"}},
		{"type", full, strings.Replace(full, "VARCHAR(9)", "VARCHAR(8)", 1), []string{"column a"}},
		{"collation of a column", full, strings.Replace(full, "VARCHAR(9)", "VARCHAR(9) COLLATE utf8mb4_bin", 1), []string{"column a"}},
		{"invisible", full, strings.Replace(full, "b INT,", "b INT INVISIBLE,", 1), []string{"column b"}},
		{"generated expression", full, strings.Replace(full, "b + 1", "b + 2", 1), []string{"column g"}},
		{"generated no more", full, strings.Replace(full, "AS (b + 1)", "", 1), []string{"column g"}},
		{"column missing", full, strings.Replace(full, ", g INT AS (b + 1)", "", 1), []string{"column g"}},
		{"order of columns", "a INT PRIMARY KEY, b INT, c INT", "a INT PRIMARY KEY, c INT, b INT", []string{"order of columns"}},
		{"primary key", "a INT, b INT, PRIMARY KEY (a, b)", "a INT, b INT, PRIMARY KEY (b, a)", []string{"index PRIMARY"}},
		{"check constraint", full, strings.Replace(full, "b > 0", "b > 1", 1), []string{"constraints"}},
		{"check constraint lost", full, strings.Replace(full, ", CHECK (b > 0)", "", 1), []string{"constraints"}},
	} {
		t.Run("Err "+c.name, func(t *testing.T) {
			want, got := fmt.Sprintf("want%d", i), fmt.Sprintf("got%d", i)
			fill(t, db, want, c.want, "")
			fill(t, db, got, c.got, "")
			if strings.Contains(c.want, "AUTO_INCREMENT") {
				run(t, db, "ALTER TABLE "+schema+"."+want+" AUTO_INCREMENT = 50")
				if strings.Contains(c.got, "AUTO_INCREMENT") {
					run(t, db, "ALTER TABLE "+schema+"."+got+" AUTO_INCREMENT = 50")
				}
			}
			if d := cmp.Diff(c.diff, objects(t, observe.Side{DB: db, Table: table(want)}, observe.Side{DB: db, Table: table(got)})); d != "" {
				t.Errorf("differences (-want +got):\n%s", d)
			}
		})
	}
	for _, c := range []struct {
		name, want, got string
		diff            []string
	}{
		{"next AUTO_INCREMENT", "AUTO_INCREMENT = 50", "AUTO_INCREMENT = 49", []string{"option AUTO_INCREMENT"}},
		{"charset of the table", "DEFAULT CHARSET latin1", "DEFAULT CHARSET utf8mb4", []string{"option COLLATE", "option DEFAULT CHARSET"}},
		{"comment of the table", "COMMENT = 'a=b, ''c'''", "COMMENT = 'a=b, ''d'''", []string{"option COMMENT"}},
		{"row format", "ROW_FORMAT = DYNAMIC", "ROW_FORMAT = COMPACT", []string{"option ROW_FORMAT"}},
		{"engine", "ENGINE = InnoDB", "ENGINE = MyISAM", []string{"option ENGINE"}},
		{"partitions", "PARTITION BY HASH (id) PARTITIONS 2", "PARTITION BY HASH (id) PARTITIONS 3", []string{"partitions"}},
	} {
		t.Run("Err "+c.name, func(t *testing.T) {
			run(t, db, "CREATE TABLE "+schema+".o1 (id INT AUTO_INCREMENT PRIMARY KEY) "+c.want, "CREATE TABLE "+schema+".o2 (id INT AUTO_INCREMENT PRIMARY KEY) "+c.got)
			got := objects(t, observe.Side{DB: db, Table: table("o1")}, observe.Side{DB: db, Table: table("o2")})
			run(t, db, "DROP TABLE "+schema+".o1, "+schema+".o2")
			for _, o := range c.diff {
				if !slices.Contains(got, o) {
					t.Errorf("got %q, want %s among them", got, o)
				}
			}
		})
	}
	t.Run("OK names of constraints", func(t *testing.T) {
		fill(t, db, "c1", "a INT, b INT, CONSTRAINT mine CHECK (a > 0), CHECK (b > 0)", "")
		fill(t, db, "c2", "a INT, b INT, CONSTRAINT yours CHECK (b > 0), CHECK (a > 0)", "")
		if got := objects(t, observe.Side{DB: db, Table: table("c1")}, observe.Side{DB: db, Table: table("c2")}); len(got) > 0 {
			t.Errorf("got %q, want none", got)
		}
	})
}

func objects(t *testing.T, want, got observe.Side) []string {
	t.Helper()
	diffs, err := observe.Schema(t.Context(), want, got)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range diffs {
		all = append(all, d.Object)
	}
	return all
}
