package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// clause is one kind of thing that an ALTER can say.
type clause struct {
	name    string
	columns string                             // beside id and n
	rest    string                             // behind the columns' parentheses
	values  []func(r *rand.Rand, n int) string // of the columns, in order
	alter   string
	key     string // instead of PRIMARY KEY (id)
}

// plain values do for most: what matters is which column they end up in.
func word(r *rand.Rand, n int) string   { return fmt.Sprintf("'%c-%d'", 'a'+r.IntN(26), n) }
func number(r *rand.Rand, n int) string { return strconv.Itoa(r.IntN(2000) - 1000) }
func some(r *rand.Rand, n int) string {
	if r.IntN(4) == 0 {
		return "NULL"
	}
	return strconv.Itoa(r.IntN(100))
}
func unique(r *rand.Rand, n int) string { return strconv.Itoa(1000*n + r.IntN(1000)) }

func of(values func(r *rand.Rand) string) func(r *rand.Rand, n int) string {
	return func(r *rand.Rand, _ int) string { return values(r) }
}

type source = func(r *rand.Rand, n int) string

func clauses() []clause {
	return []clause{
		// Columns that come and go.
		{name: "add columns", columns: "a INT, b VARCHAR(20)", values: []source{number, word},
			alter: "ADD COLUMN c INT, ADD COLUMN d VARCHAR(20) NOT NULL DEFAULT 'x' FIRST, ADD e DECIMAL(5,2) DEFAULT 1.5 AFTER a"},
		{name: "add several in parentheses", columns: "a INT", values: []source{number}, alter: "ADD (c INT, d TEXT, KEY kc (c))"},
		{name: "add without default", columns: "a INT", values: []source{number},
			alter: "ADD b INT NOT NULL, ADD c VARCHAR(9) NOT NULL, ADD d BINARY(3) NOT NULL, ADD e ENUM('q','r') NOT NULL, ADD f SET('q') NOT NULL, " +
				"ADD g BIT(3) NOT NULL, ADD h TIME NOT NULL, ADD i YEAR NOT NULL, ADD j JSON NOT NULL, ADD k TEXT NOT NULL, ADD l DOUBLE NOT NULL"},
		{name: "add expression defaults", columns: "a INT, b VARCHAR(20)", values: []source{number, word},
			alter: "ADD c INT DEFAULT (a * 2), ADD d VARCHAR(40) DEFAULT (CONCAT(b, '!')), ADD e JSON DEFAULT (JSON_ARRAY(a))"},
		{name: "keep expression defaults", columns: "a INT DEFAULT (1 + 2), b JSON DEFAULT (JSON_OBJECT())", values: []source{number, of(documents)}, alter: "MODIFY a BIGINT DEFAULT (1 + 2)"},
		{name: "drop a column", columns: "a INT, b VARCHAR(20), c INT", values: []source{number, word, number}, alter: "DROP COLUMN b"},
		{name: "drop and add again", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "DROP COLUMN b, ADD COLUMN b INT DEFAULT 5"},
		{name: "drop and rename onto it", columns: "a INT, b INT", values: []source{number, number}, alter: "DROP COLUMN a, CHANGE b a BIGINT"},
		{name: "invisible", columns: "a INT INVISIBLE, b INT", values: []source{number, number}, alter: "ALTER COLUMN a SET VISIBLE, ALTER COLUMN b SET INVISIBLE, ADD c INT INVISIBLE DEFAULT 3"},
		{name: "keep invisible", columns: "a INT INVISIBLE, b INT", values: []source{number, number}, alter: "MODIFY b BIGINT"},

		// Names and order.
		{name: "rename by CHANGE", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "CHANGE a `A b` INT"},
		{name: "rename by RENAME COLUMN", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "RENAME COLUMN a TO c, RENAME COLUMN B TO d"},
		{name: "other letters", columns: "name INT, b INT", values: []source{number, number}, alter: "CHANGE NAME Name BIGINT, RENAME COLUMN b TO B"},
		{name: "swap names", columns: "a INT, b INT, c INT", values: []source{number, number, number}, alter: "RENAME COLUMN a TO b, RENAME COLUMN b TO a"},
		{name: "swap names by CHANGE", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "CHANGE a b INT, CHANGE b a VARCHAR(20)"},
		{name: "rotate names", columns: "a INT, b INT, c INT", values: []source{number, number, number}, alter: "RENAME COLUMN a TO b, RENAME COLUMN b TO c, RENAME COLUMN c TO a"},
		{name: "strange names", columns: "`select` INT, `a``b` INT, `ü €` INT, `osc c0` INT", values: []source{number, number, number, number}, alter: "MODIFY `a``b` BIGINT, MODIFY `select` BIGINT, MODIFY `ü €` VARCHAR(20)"},
		{name: "first and after", columns: "a INT, b VARCHAR(20), c INT", values: []source{number, word, number}, alter: "MODIFY c BIGINT FIRST, MODIFY a INT AFTER b"},
		{name: "rename the key", columns: "a INT", values: []source{number}, alter: "CHANGE id ID BIGINT NOT NULL"},
		{name: "rename and add under the old name", columns: "a INT", values: []source{number}, alter: "RENAME COLUMN a TO b, ADD COLUMN a INT DEFAULT 9"},

		// Generated columns.
		{name: "add generated", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "ADD g INT AS (a + 1) STORED, ADD h VARCHAR(40) AS (CONCAT(b, a)) VIRTUAL, ADD KEY (h)"},
		{name: "drop generated", columns: "a INT, g INT AS (a + 1) STORED, h INT AS (a + 2)", values: []source{number}, alter: "DROP COLUMN g, DROP COLUMN h"},
		{name: "keep generated", columns: "a INT, g INT AS (a + 1) STORED, h INT AS (a + 2) VIRTUAL NOT NULL, KEY (h), KEY (g)", values: []source{number}, alter: "MODIFY a BIGINT"},
		{name: "stored into plain", columns: "a INT, g INT AS (a + 1) STORED", values: []source{number}, alter: "MODIFY g INT"},
		{name: "plain into stored", columns: "a INT, g INT", values: []source{number, number}, alter: "MODIFY g INT AS (a * 3) STORED"},
		{name: "another expression", columns: "a INT, g INT AS (a + 1) STORED", values: []source{number}, alter: "MODIFY g BIGINT AS (a - 1) STORED"},
		{name: "generated in front", columns: "g INT AS (n + 1) STORED, a INT, h INT AS (a + 1) VIRTUAL, b INT", values: []source{number, number}, alter: "MODIFY b BIGINT FIRST, RENAME COLUMN h TO hh"},
		{name: "generated of JSON", columns: "j JSON, g VARCHAR(100) AS (j->>'$.k') STORED", values: []source{of(func(r *rand.Rand) string { return fmt.Sprintf("JSON_OBJECT('k', 'v%d')", r.IntN(50)) })}, alter: "ADD KEY (g), ADD h INT"},

		// Time.
		{name: "on update", columns: "a INT, u TIMESTAMP(6) NULL ON UPDATE CURRENT_TIMESTAMP(6), d DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
			values: []source{number, of(datetimes(6)), of(datetimes(0))}, alter: "MODIFY a BIGINT"},
		{name: "start to update", columns: "a INT, d DATETIME", values: []source{number, of(datetimes(0))}, alter: "MODIFY d DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"},
		{name: "zero dates", columns: "a INT, d DATE, e DATETIME NOT NULL, f TIMESTAMP NULL",
			values: []source{number, of(edges(dates, "'0000-00-00'", "'2020-00-00'")), of(datetimes(0, "'0000-00-00 00:00:00'")), of(datetimes(0, "'0000-00-00 00:00:00'"))}, alter: "MODIFY a BIGINT"},
		{name: "zero dates to another type", columns: "d DATE, e DATETIME", values: []source{of(edges(dates, "'0000-00-00'")), of(datetimes(0, "'0000-00-00 00:00:00'"))}, alter: "MODIFY d DATETIME, MODIFY e VARCHAR(30)"},
		{name: "timestamp to datetime", columns: "f TIMESTAMP(3) NULL", values: []source{of(datetimes(3))}, alter: "MODIFY f DATETIME(3)"},
		{name: "datetime to timestamp", columns: "f DATETIME", values: []source{of(datetimes(0))}, alter: "MODIFY f TIMESTAMP NULL"},

		// Numbers that the server gives.
		{name: "auto increment", columns: "a INT", key: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", values: []source{number}, alter: "MODIFY id BIGINT NOT NULL AUTO_INCREMENT"},
		{name: "auto increment raised", columns: "a INT", key: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", values: []source{number}, alter: "MODIFY a BIGINT, AUTO_INCREMENT = 100000"},
		{name: "auto increment lowered", columns: "a INT", key: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", values: []source{number}, alter: "MODIFY a BIGINT, AUTO_INCREMENT = 3"},
		{name: "auto increment begins", columns: "a INT", key: "id INT NOT NULL PRIMARY KEY", values: []source{number}, alter: "MODIFY id INT NOT NULL AUTO_INCREMENT"},
		{name: "auto increment ends", columns: "a INT", key: "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", values: []source{number}, alter: "MODIFY id INT NOT NULL"},
		{name: "auto increment behind another column", columns: "s INT NOT NULL, a INT", key: "id INT NOT NULL AUTO_INCREMENT, PRIMARY KEY (s, id), KEY (id)", values: []source{number, number}, alter: "MODIFY a BIGINT"},

		// Indexes.
		{name: "add indexes", columns: "a INT, b VARCHAR(20), c TEXT", values: []source{number, word, word}, alter: "ADD KEY (a), ADD INDEX kb (b(3), a DESC), ADD KEY kc ((a + 1)), ADD KEY kt (c(5))"},
		{name: "drop and rename indexes", columns: "a INT, b INT, KEY ka (a), KEY kb (b)", values: []source{number, number}, alter: "DROP KEY ka, RENAME INDEX kb TO kc, MODIFY a BIGINT"},
		{name: "invisible index", columns: "a INT, b INT, KEY ka (a), KEY kb (b) INVISIBLE", values: []source{number, number}, alter: "ALTER INDEX ka INVISIBLE, ALTER INDEX kb VISIBLE, MODIFY b BIGINT"},
		{name: "add unique", columns: "a INT, b INT", values: []source{unique, number}, alter: "ADD UNIQUE KEY ua (a), ADD UNIQUE (b, n)"},
		{name: "keep unique", columns: "a INT, b INT, UNIQUE KEY ua (a), UNIQUE KEY ub (n, b)", values: []source{unique, number}, alter: "MODIFY b BIGINT"},
		{name: "keep one and add another", columns: "a INT, b INT, UNIQUE KEY ua (a)", values: []source{unique, unique}, alter: "ADD UNIQUE KEY ub (b)"},
		{name: "unique with NULLs", columns: "a INT, b INT", values: []source{func(r *rand.Rand, n int) string {
			return map[bool]string{true: "NULL", false: strconv.Itoa(n)}[r.IntN(2) == 0]
		}, number}, alter: "ADD UNIQUE KEY ua (a)"},
		{name: "unique prefix", columns: "a VARCHAR(40)", values: []source{func(r *rand.Rand, n int) string { return fmt.Sprintf("'%03d-%d'", n, r.IntN(100)) }}, alter: "ADD UNIQUE KEY ua (a(3))"},
		{name: "unique to plain", columns: "a INT, UNIQUE KEY ua (a)", values: []source{unique}, alter: "DROP KEY ua, ADD KEY ua (a)"},
		{name: "unique of an expression kept", columns: "a INT, UNIQUE KEY ua ((a * 2))", values: []source{unique}, alter: "ADD COLUMN c INT"},
		{name: "unique on generated", columns: "a INT, g INT AS (a * 2) VIRTUAL, UNIQUE KEY ug (g)", values: []source{unique}, alter: "ADD COLUMN c INT, ADD UNIQUE KEY ua (a)"},
		{name: "fulltext", columns: "a VARCHAR(100), b TEXT, FULLTEXT KEY fb (b)", values: []source{word, word}, alter: "ADD FULLTEXT KEY fa (a), MODIFY a VARCHAR(120)"},
		{name: "fulltext and unique", columns: "a INT, b TEXT, FULLTEXT KEY fb (b)", values: []source{unique, word}, alter: "ADD UNIQUE KEY ua (a)"},
		{name: "spatial index", columns: "p POINT NOT NULL SRID 4326, a INT", values: []source{of(points(4326)), unique}, alter: "ADD SPATIAL KEY sp (p), ADD UNIQUE KEY (a)"},
		{name: "spatial index kept", columns: "p POINT NOT NULL SRID 0, a INT, SPATIAL KEY sp (p)", values: []source{of(points(0)), unique}, alter: "MODIFY a BIGINT, ADD UNIQUE KEY (a)"},
		{name: "multi-valued index", columns: "j JSON", values: []source{of(func(r *rand.Rand) string {
			return fmt.Sprintf("JSON_OBJECT('t', JSON_ARRAY(%d, %d))", r.IntN(9), 10+r.IntN(9))
		})}, alter: "ADD KEY mv ((CAST(j->'$.t' AS UNSIGNED ARRAY)))"},

		// Checks.
		{name: "checks without a name", columns: "a INT, CHECK (a > -100000), b INT CHECK (b < 100000)", values: []source{number, number}, alter: "MODIFY b BIGINT"},
		{name: "checks, one dropped", columns: "a INT, b INT, CHECK (a > -100000), CHECK (b < 100000), CHECK (a < 7000)", values: []source{number, number}, alter: "DROP CHECK t_chk_1, MODIFY b BIGINT"},
		{name: "checks with a number left out", columns: "a INT, b INT, CONSTRAINT t_chk_4 CHECK (a > -100000), CONSTRAINT t_chk_x CHECK (b < 100000) NOT ENFORCED", values: []source{number, number}, alter: "ADD CHECK (a < 5000), MODIFY b BIGINT"},
		{name: "checks added", columns: "a INT", values: []source{number}, alter: "ADD CONSTRAINT low CHECK (a < 5000), ADD CHECK (a > -5000), ADD b INT DEFAULT 1 CHECK (b > 0), ADD CONSTRAINT CHECK (a <> 77777)"},
		{name: "check of a name replaced", columns: "a INT, CONSTRAINT low CHECK (a < 5000)", values: []source{number}, alter: "DROP CHECK low, ADD CONSTRAINT lower CHECK (a < 4000), MODIFY a BIGINT"},
		{name: "check of a name dropped with its column", columns: "a INT CONSTRAINT low CHECK (a < 5000), b INT", values: []source{number, number}, alter: "DROP CHECK low, DROP COLUMN a"},
		{name: "check switched", columns: "a INT, CHECK (a < 5000)", values: []source{number}, alter: "ALTER CHECK t_chk_1 NOT ENFORCED, MODIFY a BIGINT"},
		{name: "checks with strange text", columns: "a VARCHAR(20), CHECK (a <> 'it''s, \\n CONSTRAINT `x` CHECK')", values: []source{word}, alter: "MODIFY a VARCHAR(30)"},

		// Partitions.
		{name: "add partitions", columns: "a INT", values: []source{number}, alter: "PARTITION BY HASH (id) PARTITIONS 4"},
		{name: "add range partitions", columns: "a INT", values: []source{number}, alter: "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (200), PARTITION p1 VALUES LESS THAN MAXVALUE)"},
		{name: "keep partitions", columns: "a INT", values: []source{number}, rest: "PARTITION BY HASH (id) PARTITIONS 3", alter: "MODIFY a BIGINT"},
		{name: "remove partitions", columns: "a INT", values: []source{number}, rest: "PARTITION BY KEY () PARTITIONS 3", alter: "REMOVE PARTITIONING"},
		{name: "reorganize partitions", columns: "a INT", values: []source{number}, rest: "PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (300), PARTITION p1 VALUES LESS THAN MAXVALUE)",
			alter: "REORGANIZE PARTITION p1 INTO (PARTITION p1 VALUES LESS THAN (600), PARTITION p2 VALUES LESS THAN MAXVALUE)"},
		{name: "more partitions", columns: "a INT", values: []source{number}, rest: "PARTITION BY HASH (id) PARTITIONS 3", alter: "ADD PARTITION PARTITIONS 2"},
		{name: "unique in partitions", columns: "a INT, UNIQUE KEY (id, n)", values: []source{number}, rest: "PARTITION BY HASH (id) PARTITIONS 3", alter: "ADD UNIQUE KEY ua (a, n, id)"},
		{name: "converted in partitions", columns: "a INT, b VARBINARY(20)", values: []source{number, of(bytes(20))}, rest: "PARTITION BY HASH (id) PARTITIONS 3", alter: "MODIFY a VARBINARY(30)"},

		// Options of the table.
		{name: "force", columns: "a INT", values: []source{number}, alter: "FORCE"},
		{name: "engine", columns: "a INT", values: []source{number}, alter: "ENGINE=InnoDB"},
		{name: "comment", columns: "a INT COMMENT 'one; two'", values: []source{number}, rest: "COMMENT='before'", alter: "COMMENT='it''s; -- after', MODIFY a INT COMMENT 'three\\n'"},
		{name: "row format", columns: "a INT, b TEXT", values: []source{number, word}, rest: "ROW_FORMAT=COMPACT", alter: "ROW_FORMAT=DYNAMIC"},
		{name: "compressed", columns: "a INT, b TEXT", values: []source{unique, word}, alter: "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8, ADD UNIQUE KEY (a)"},
		{name: "options kept", columns: "a INT", values: []source{number}, rest: "ROW_FORMAT=REDUNDANT STATS_PERSISTENT=0 STATS_SAMPLE_PAGES=7 COMMENT='kept' MAX_ROWS=1000", alter: "MODIFY a BIGINT"},
		{name: "default charset", columns: "a VARCHAR(20), b TEXT", values: []source{word, word}, rest: "CHARACTER SET latin1", alter: "DEFAULT CHARACTER SET utf8mb4, ADD c VARCHAR(10)"},
		{name: "convert to utf8mb4", columns: "a VARCHAR(20), b TEXT, c ENUM('b','a'), d CHAR(9) CHARACTER SET utf8mb3, e JSON, f VARBINARY(9)", rest: "CHARACTER SET latin1",
			values: []source{of(texts(20, latin)), of(texts(300, latin)), of(members("b", "a")), of(texts(9, bmp)), of(documents), of(bytes(9))}, alter: "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"},
		{name: "convert cp1251", columns: "a VARCHAR(20), b TEXT, UNIQUE KEY (a, n)", rest: "CHARACTER SET cp1251", values: []source{of(texts(20, cyrillic)), of(texts(300, cyrillic))}, alter: "CONVERT TO CHARACTER SET utf8mb4"},
		{name: "convert to latin1", columns: "a VARCHAR(20), b TEXT", values: []source{of(texts(20, latin)), of(texts(200, latin))}, alter: "CONVERT TO CHARACTER SET latin1"},
		{name: "convert gbk", columns: "a VARCHAR(20), b MEDIUMTEXT", rest: "CHARACTER SET gbk", values: []source{of(texts(20, chinese)), of(texts(200, chinese))}, alter: "CONVERT TO CHARACTER SET utf8mb4"},
		{name: "convert ucs2", columns: "a VARCHAR(20), b TINYTEXT", rest: "CHARACTER SET ucs2", values: []source{of(texts(20, bmp)), of(texts(20, bmp))}, alter: "CONVERT TO CHARACTER SET utf8mb4"},
		{name: "convert to binary", columns: "a VARCHAR(20), b TEXT", values: []source{of(texts(20, ascii)), of(texts(20, anything))}, alter: "CONVERT TO CHARACTER SET binary"},
		{name: "collation", columns: "a VARCHAR(20) COLLATE utf8mb4_bin, UNIQUE KEY (a, n)", values: []source{of(texts(20, anything))}, alter: "MODIFY a VARCHAR(20) COLLATE utf8mb4_unicode_ci"},

		// Defaults.
		{name: "set default", columns: "a INT, b VARCHAR(20) DEFAULT 'x'", values: []source{some, word}, alter: "ALTER COLUMN a SET DEFAULT 5, ALTER COLUMN b DROP DEFAULT, MODIFY n BIGINT NOT NULL"},
		{name: "nullable", columns: "a INT NOT NULL, b VARCHAR(20) NOT NULL", values: []source{number, word}, alter: "MODIFY a INT NULL, MODIFY b VARCHAR(20)"},
		{name: "not null", columns: "a INT, b VARCHAR(20)", values: []source{number, word}, alter: "MODIFY a INT NOT NULL, MODIFY b VARCHAR(20) NOT NULL DEFAULT 'z'"},

		// How it is said.
		{name: "algorithm and lock", columns: "a INT", values: []source{number}, alter: "ADD c INT, ALGORITHM=INPLACE, LOCK=NONE"},
		{name: "comments in the text", columns: "a INT", values: []source{number}, alter: "/* one */ ADD c INT -- two\n, ADD d INT # three\n"},
		{name: "many clauses", columns: "a INT, b VARCHAR(20), c INT, d TEXT, KEY kb (b)", values: []source{number, word, number, word},
			alter: "DROP COLUMN c, CHANGE a aa BIGINT AFTER b, ADD e INT DEFAULT 3 FIRST, DROP KEY kb, ADD KEY kb2 (b, aa), MODIFY d MEDIUMTEXT CHARACTER SET latin1, COMMENT='many'"},

		// Types that only the server can convert.
		{name: "vector", columns: "v VECTOR(3), a INT", values: []source{of(vectors), number}, alter: "MODIFY a BIGINT, MODIFY v VECTOR(8)"},
		{name: "spatial types", columns: "g GEOMETRY, p POINT SRID 4326, a INT", values: []source{of(geometries), of(points(4326)), number}, alter: "MODIFY a BIGINT, MODIFY p GEOMETRY SRID 4326"},
		{name: "enum by members", columns: "e ENUM('x','y','z'), s SET('p','q')", values: []source{of(members("x", "y", "z")), of(members("", "p", "q", "p,q"))}, alter: "MODIFY e ENUM('z','new','y','x'), MODIFY s SET('q','new','p')"},
		{name: "enum to text", columns: "e ENUM('x','y','z'), s SET('p','q')", values: []source{of(members("x", "y", "z")), of(members("", "p", "q", "p,q"))}, alter: "MODIFY e VARCHAR(20), MODIFY s TEXT"},
		{name: "text to enum", columns: "e VARCHAR(20), s TEXT", values: []source{of(members("x", "y", "z")), of(members("", "p", "q", "p,q"))}, alter: "MODIFY e ENUM('z','y','x'), MODIFY s SET('q','p')"},
	}
}

// Every kind of clause gives what MySQL's own ALTER gives.
func TestClauses(t *testing.T) {
	lab := newLab(t)
	for _, c := range clauses() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := random(t)
			tr := c.trial(r)
			lab.use(t, func(w *worker) { w.migrate(t, tr).check(t) })
		})
	}
}

func (c clause) trial(r *rand.Rand) trial {
	key := c.key
	if key == "" {
		key = "id INT NOT NULL PRIMARY KEY"
	}
	tr := trial{create: "(n INT NOT NULL, " + key + ", " + c.columns + ") " + c.rest, alter: c.alter}
	if strings.Contains(key, ", ") {
		column, rest, _ := strings.Cut(key, ", ")
		tr.create = "(n INT NOT NULL, " + column + ", " + c.columns + ", " + rest + ") " + c.rest
	}
	ids := r.Perm(1000)
	for n := range rowsPerKey {
		row := []string{strconv.Itoa(n + 1), strconv.Itoa(ids[n] + 1)}
		if n == 0 && !strings.Contains(c.alter, "id INT NOT NULL AUTO_INCREMENT") {
			row[1] = "0"
		}
		for _, value := range c.values {
			row = append(row, value(r, n))
		}
		tr.rows = append(tr.rows, row)
	}
	return tr
}
