package observe_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

// planted is a difference that a comparison must find and name. The rows are
// the values of an INSERT; columns are those of the whole table.
type planted struct {
	name    string
	columns string
	want    string
	got     string
	report  []string // "key: columns", "key: lost", "key: extra", "key: N times"
}

func differences() []planted {
	return []planted{
		{"BINARY column", "id INT PRIMARY KEY, b BINARY(4)", "(1, X'0100')", "(1, X'0101')", []string{"1: b"}},
		{"VARBINARY length", "id INT PRIMARY KEY, b VARBINARY(4)", "(1, X'01')", "(1, X'0100')", []string{"1: b"}},
		{"BLOB", "id INT PRIMARY KEY, b BLOB", "(1, X'00FF')", "(1, X'00FE')", []string{"1: b"}},
		{"two changes that cancel under XOR", "id INT PRIMARY KEY, v INT", "(1, 5), (2, 9)", "(1, 9), (2, 5)", []string{"1: v", "2: v"}},
		{"a border between columns", "id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9)", "(1, 'x0', 'y')", "(1, 'x', '0y')", []string{"1: a b"}},
		{"a border with lengths in the text", "id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9)", "(1, '1:1', '')", "(1, '1', ':1')", []string{"1: a b"}},
		{"NULL and empty", "id INT PRIMARY KEY, a VARCHAR(9)", "(1, NULL)", "(1, '')", []string{"1: a"}},
		{"NULL and the letter N", "id INT PRIMARY KEY, a VARCHAR(9)", "(1, NULL)", "(1, 'N')", []string{"1: a"}},
		{"NULL in another column", "id INT PRIMARY KEY, a INT, b INT", "(1, NULL, 1)", "(1, 1, NULL)", []string{"1: a b"}},
		{"NULL in a long column", "id INT PRIMARY KEY, a TEXT, b TEXT", "(1, NULL, '')", "(1, '', NULL)", []string{"1: a b"}},
		{"1.0 and 1 in JSON", "id INT PRIMARY KEY, j JSON", "(1, '[1.0]')", "(1, '[1]')", []string{"1: j"}},
		{"DOUBLE and DECIMAL in JSON", "id INT PRIMARY KEY, j JSON", "(1, JSON_OBJECT('a', 1.5e0))", "(1, JSON_OBJECT('a', 1.5))", []string{"1: j"}},
		{"DATETIME and string in JSON", "id INT PRIMARY KEY, j JSON", "(1, JSON_ARRAY(JSON_OBJECT('a', CAST('2020-01-02' AS DATETIME))))", "(1, JSON_ARRAY(JSON_OBJECT('a', '2020-01-02 00:00:00.000000')))", []string{"1: j"}},
		{"BLOB and string in JSON", "id INT PRIMARY KEY, j JSON", "(1, JSON_ARRAY(X'01'))", "(1, JSON_ARRAY(JSON_UNQUOTE(JSON_EXTRACT(JSON_ARRAY(X'01'), '$[0]'))))", []string{"1: j"}},
		{"UNSIGNED and signed in JSON", "id INT PRIMARY KEY, j JSON", "(1, JSON_ARRAY(CAST(1 AS UNSIGNED)))", "(1, JSON_ARRAY(1))", []string{"1: j"}},
		{"minus zero in JSON", "id INT PRIMARY KEY, j JSON", "(1, JSON_ARRAY(-0e0))", "(1, JSON_ARRAY(0e0))", []string{"1: j"}},
		{"JSON null and NULL", "id INT PRIMARY KEY, j JSON", "(1, 'null')", "(1, NULL)", []string{"1: j"}},
		{"JSON scalar type", "id INT PRIMARY KEY, j JSON", "(1, CAST(1.5 AS JSON))", "(1, CAST(1.5e0 AS JSON))", []string{"1: j"}},
		{"FLOAT beyond six digits", "id INT PRIMARY KEY, f FLOAT", "(1, 16777216)", "(1, 16777215)", []string{"1: f"}},
		{"FLOAT fraction", "id INT PRIMARY KEY, f FLOAT", "(1, 0.1)", "(1, 0.10000001)", []string{"1: f"}},
		{"DOUBLE last digit", "id INT PRIMARY KEY, f DOUBLE", "(1, 0.3)", "(1, 0.1e0 + 0.2e0)", []string{"1: f"}},
		{"minus zero", "id INT PRIMARY KEY, f DOUBLE", "(1, 0e0)", "(1, -0e0)", []string{"1: f"}},
		{"trailing space", "id INT PRIMARY KEY, a VARCHAR(9)", "(1, 'a')", "(1, 'a ')", []string{"1: a"}},
		{"letter case", "id INT PRIMARY KEY, a VARCHAR(9)", "(1, 'a')", "(1, 'A')", []string{"1: a"}},
		{"letter case in the key", "k VARCHAR(9) PRIMARY KEY", "('a')", "('A')", []string{"a: k"}},
		{"trailing space in a padded key", "k VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY", "('a')", "('a ')", []string{"a: k"}},
		{"accent", "id INT PRIMARY KEY, a VARCHAR(9)", "(1, 'e')", "(1, 'é')", []string{"1: a"}},
		{"latin1 byte", "id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1", "(1, 'é')", "(1, 'è')", []string{"1: a"}},
		{"BIT", "id INT PRIMARY KEY, b BIT(64)", "(1, b'1')", "(1, b'10')", []string{"1: b"}},
		{"ENUM error value", "id INT PRIMARY KEY, e ENUM('', 'b')", "(1, 1)", "(1, 0)", []string{"1: e"}},
		{"SET", "id INT PRIMARY KEY, s SET('a', 'b')", "(1, 'a,b')", "(1, 'b')", []string{"1: s"}},
		{"DECIMAL digit", "id INT PRIMARY KEY, d DECIMAL(65,30)", "(1, 0.000000000000000000000000000001)", "(1, 0)", []string{"1: d"}},
		{"BIGINT", "id INT PRIMARY KEY, n BIGINT UNSIGNED", "(1, 18446744073709551615)", "(1, 18446744073709551614)", []string{"1: n"}},
		{"TIME fraction", "id INT PRIMARY KEY, t TIME(6)", "(1, '-00:00:00.000001')", "(1, '00:00:00.000001')", []string{"1: t"}},
		{"TIMESTAMP", "id INT PRIMARY KEY, t TIMESTAMP(6) NULL", "(1, '2020-01-01 00:00:00.000001')", "(1, '2020-01-01 00:00:00.000002')", []string{"1: t"}},
		{"zero date", "id INT PRIMARY KEY, d DATE", "(1, '0000-00-00')", "(1, NULL)", []string{"1: d"}},
		{"spatial reference", "id INT PRIMARY KEY, g POINT", "(1, ST_SRID(POINT(1, 2), 4326))", "(1, POINT(1, 2))", []string{"1: g"}},
		{"VECTOR", "id INT PRIMARY KEY, v VECTOR(2)", "(1, TO_VECTOR('[1,2]'))", "(1, TO_VECTOR('[1,3]'))", []string{"1: v"}},
		{"invisible column", "id INT PRIMARY KEY, a INT INVISIBLE, b INT", "(1, 2)", "(1, 3)", []string{"1: b"}},
		{"same count, one row swapped", "id INT PRIMARY KEY, v INT", "(1, 1), (2, 2), (4, 4)", "(1, 1), (3, 3), (4, 4)", []string{"2: lost", "3: extra"}},
		{"row below, row above", "id INT PRIMARY KEY, v INT", "(5, 5)", "(-1, 1), (5, 5), (9, 9)", []string{"-1: extra", "9: extra"}},
		{"empty table", "id INT PRIMARY KEY, v INT", "(1, 1)", "", []string{"1: lost"}},
		{"composite key", "a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b)", "(1, 'x', 1), (1, 'y', 2), (2, 'x', 3)", "(1, 'x', 1), (1, 'y', 9)", []string{"1,y: v", "2,x: lost"}},
		{"binary key", "k BINARY(2) PRIMARY KEY, v INT", "(X'0100', 1), (X'0001', 2)", "(X'0100', 1), (X'0001', 3)", []string{"0x0001: v"}},
		{"ENUM key out of order", "e ENUM('z', 'a', 'm') PRIMARY KEY, v INT", "('z', 1), ('a', 2), ('m', 3)", "('z', 1), ('a', 4), ('m', 3)", []string{"a: v"}},
		{"BIT key", "id INT, b BIT(1), v INT, PRIMARY KEY (id, b)", "(1, 0, 1), (2, 0, 2), (2, 1, 3)", "(1, 0, 1), (2, 0, 2)", []string{"2,1: lost"}},
		{"FLOAT key", "f FLOAT PRIMARY KEY, v INT", "(0.1, 1), (1.1, 2)", "(0.1, 1), (1.1, 3)", []string{"1.1: v"}},
		{"time key", "t DATETIME(3) PRIMARY KEY, v INT", "('2020-01-01 00:00:00.5', 1)", "('2020-01-01 00:00:00.5', 2)", []string{"2020-01-01 00:00:00.500: v"}},
		{"a row twice, without a key", "v INT", "(1), (2)", "(1), (2), (2)", []string{"2 times"}},
		{"rows twice that cancel, without a key", "v INT", "(1), (1), (3)", "(2), (2), (3)", []string{"extra 2", "lost"}},
		{"once instead of twice, without a key", "v INT", "(1), (1), (3)", "(1), (3), (3)", []string{"2 times", "lost"}},
	}
}

func TestCompare(t *testing.T) {
	db := server(t, topology.Spec{}).Source().DB
	for i, p := range differences() {
		t.Run("Err "+p.name, func(t *testing.T) {
			want, got := fmt.Sprintf("want%d", i), fmt.Sprintf("got%d", i)
			fill(t, db, want, p.columns, p.want)
			fill(t, db, got, p.columns, p.got)
			// Two rows a chunk, so that borders between chunks count too.
			c, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table(want)}, observe.Side{DB: db, Table: table(got)}, observe.Options{ChunkSize: 2})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(p.report, reported(c)); d != "" {
				t.Errorf("report (-want +got):\n%s", d)
			}
		})
		t.Run("OK "+p.name, func(t *testing.T) {
			same := fmt.Sprintf("same%d", i)
			fill(t, db, same, p.columns, p.want)
			c, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table(fmt.Sprintf("want%d", i))}, observe.Side{DB: db, Table: table(same)}, observe.Options{ChunkSize: 2})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Diffs) > 0 || !c.Done || c.Rows != c.FinalRows {
				t.Errorf("got %v, %d and %d rows, want no difference", reported(c), c.Rows, c.FinalRows)
			}
		})
	}
	t.Run("OK many chunks", func(t *testing.T) { manyChunks(t, db) })
	t.Run("Err too many differences", func(t *testing.T) { truncated(t, db) })
	t.Run("OK excluded key", func(t *testing.T) {
		fill(t, db, "e1", "id INT PRIMARY KEY, v INT", "(1, 1), (2, 2)")
		fill(t, db, "e2", "id INT PRIMARY KEY, v INT", "(1, 1), (3, 3)")
		c, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table("e1")}, observe.Side{DB: db, Table: table("e2")}, observe.Options{Exclude: []history.Key{"3"}})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"2: lost"}, reported(c)); d != "" {
			t.Errorf("report (-want +got):\n%s", d)
		}
	})
	t.Run("Err no such table", func(t *testing.T) {
		_, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table("e1")}, observe.Side{DB: db, Table: table("nowhere")}, observe.Options{})
		if err == nil || !strings.Contains(err.Error(), "no such table") {
			t.Errorf("got %v, want no such table", err)
		}
	})
}

const numbers = "INSERT INTO %s WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i DIV 30, CONCAT('k', i), i FROM n"

// manyChunks plants three differences in a composite key of 900 rows, one of
// them above everything that the other side has.
func manyChunks(t *testing.T, db *sql.DB) {
	for _, name := range []string{"m1", "m2"} {
		fill(t, db, name, "a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b)", "")
		run(t, db, fmt.Sprintf(numbers, schema+"."+name))
	}
	run(t, db, "UPDATE "+schema+".m2 SET v = -1 WHERE v = 450", "DELETE FROM "+schema+".m2 WHERE v = 1", "INSERT INTO "+schema+".m2 VALUES (99, 'new', 1)")
	for _, size := range []int64{1, 7, 300, 899, 900, 901, 10_000} {
		c, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table("m1")}, observe.Side{DB: db, Table: table("m2")}, observe.Options{ChunkSize: size})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"0,k1: lost", "15,k450: v", "99,new: extra"}, reported(c)); d != "" {
			t.Errorf("chunks of %d (-want +got):\n%s", size, d)
		}
	}
}

func truncated(t *testing.T, db *sql.DB) {
	fill(t, db, "t1", "a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b)", "")
	fill(t, db, "t2", "a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b)", "")
	run(t, db, fmt.Sprintf(numbers, schema+".t1"))
	c, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: table("t1")}, observe.Side{DB: db, Table: table("t2")}, observe.Options{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Diffs) != 5 || !c.Truncated || c.Rows != 900 || c.FinalRows != 0 {
		t.Errorf("got %d differences, truncated %v, %d and %d rows", len(c.Diffs), c.Truncated, c.Rows, c.FinalRows)
	}
}

// fill makes a table with these rows under a mode that lets any value in.
func fill(t *testing.T, db *sql.DB, name, columns, rows string) {
	t.Helper()
	statements := []string{"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "CREATE TABLE " + schema + "." + name + " (" + columns + ")"}
	if rows != "" {
		statements = append(statements, "INSERT INTO "+schema+"."+name+" VALUES "+rows)
	}
	run(t, db, append(statements, "SET SESSION sql_mode = DEFAULT")...)
}

// reported spells the differences as planted does. A row without a key has a
// name that says nothing.
func reported(c history.Comparison) []string {
	var all []string
	for _, d := range c.Diffs {
		name := string(d.Key) + ": "
		if strings.HasPrefix(name, "#") {
			name = ""
		}
		switch {
		case d.Want != nil && d.Count > 1:
			name += fmt.Sprintf("%d times", d.Count)
		case d.Got == nil:
			name += "lost"
		case d.Want == nil && d.Count > 1:
			name += fmt.Sprintf("extra %d", d.Count)
		case d.Want == nil:
			name += "extra"
		default:
			name += strings.Join(d.Columns, " ")
			for _, column := range d.Columns {
				if d.WantHex[column] == d.GotHex[column] {
					name += " (same bytes)"
				}
			}
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
