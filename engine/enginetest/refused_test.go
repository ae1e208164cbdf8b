package enginetest

import (
	"strings"
	"testing"

	"rowproof/engine"
)

// What can't be done as MySQL's own ALTER would do it is refused by name, with
// what to do, and nothing is left behind.
func TestRefused(t *testing.T) {
	lab := newLab(t)
	for _, c := range []struct {
		name, columns, rows, alter string
		says                       []string
	}{
		{"FLOAT key", "id FLOAT PRIMARY KEY", "(1)", "ADD c INT", []string{"`id` is float, which has no exact text"}},
		{"DOUBLE in a key", "id INT, d DOUBLE, PRIMARY KEY (id, d)", "(1, 1)", "ADD c INT", []string{"`d` is double"}},
		{"nullable unique key", "id INT UNIQUE", "(1)", "ADD c INT", []string{"`id` can be NULL"}},
		{"prefix key", "v VARCHAR(20), PRIMARY KEY (v(5))", "('a')", "ADD c INT", []string{"only a prefix of `v`"}},
		{"key over an expression", "id INT NOT NULL, UNIQUE KEY u ((id + 1))", "(1)", "ADD c INT", []string{"the expression"}},
		{"no key", "id INT", "(1)", "ADD c INT", []string{"no primary or unique key"}},
		{"hidden behind a column", "id INT PRIMARY KEY, v INT", "(1, 1)", "DROP PRIMARY KEY, ADD PRIMARY KEY (v, id)", []string{"no unique key of the shadow begins with its columns"}},
		{"key dropped", "id INT PRIMARY KEY, v INT", "(1, 1)", "DROP COLUMN id, ADD PRIMARY KEY (v)", []string{"drops its column `id`"}},
		{"key turned into text", "id INT PRIMARY KEY", "(1)", "MODIFY id VARCHAR(20)", []string{"from int to varchar(20)"}},
		{"key's fraction cut", "id DATETIME(6) PRIMARY KEY", "('2020-01-01 00:00:00.5')", "MODIFY id DATETIME", []string{"can't be undone"}},
		{"TIMESTAMP key and zones", "id TIMESTAMP PRIMARY KEY, d DATETIME", "('2020-01-01 00:00:00', NULL)", "MODIFY d TIMESTAMP NULL", []string{"key column `id` timestamp", "depends on the time zone"}},
		{"zero date", "id INT PRIMARY KEY", "(1)", "ADD d DATE NOT NULL", []string{"ADD COLUMN `d` date NOT NULL", "NO_ZERO_DATE"}},
		{"number for 0", "id INT PRIMARY KEY", "(0), (5)", "MODIFY id INT NOT NULL AUTO_INCREMENT", []string{"AUTO_INCREMENT on column `id`", "holds 0"}},
		{"new numbers", "id INT PRIMARY KEY", "(1)", "ADD n INT AUTO_INCREMENT UNIQUE", []string{"ADD COLUMN `n` AUTO_INCREMENT"}},
		{"check with a name", "id INT PRIMARY KEY, v INT, CONSTRAINT positive CHECK (v > 0)", "(1, 1)", "MODIFY v BIGINT", []string{"CHECK constraint `positive`", "DROP CHECK `positive`, ADD CONSTRAINT new_name"}},
		{"check with a name, column dropped", "id INT PRIMARY KEY, v INT, w INT, CONSTRAINT positive CHECK (v > 0)", "(1, 1, 1)", "DROP COLUMN w", []string{"CHECK constraint `positive`"}},
		{"check replaced under its name", "id INT PRIMARY KEY, v INT, CONSTRAINT positive CHECK (v > 0)", "(1, 1)", "DROP CHECK positive, ADD CONSTRAINT positive CHECK (v > -5)", []string{"positive"}},
		{"unique expression", "id INT PRIMARY KEY, v INT", "(1, 1)", "ADD UNIQUE KEY u ((v + 1))", []string{"unique key `u`", "expression"}},
		{"TIME to DATETIME", "id INT PRIMARY KEY, v TIME", "(1, '10:00')", "MODIFY v DATETIME", []string{"column `v` from time to datetime", "the day on which a row is converted"}},
		{"text to BIT", "id INT PRIMARY KEY, v VARCHAR(20)", "(1, '1')", "MODIFY v BIT(8)", []string{"column `v` from varchar(20) to bit(8)"}},
		{"DOUBLE to YEAR", "id INT PRIMARY KEY, v DOUBLE", "(1, 2000)", "MODIFY v YEAR", []string{"column `v` from double to year"}},
		{"INT to VECTOR", "id INT PRIMARY KEY, v INT", "(1, 2000)", "MODIFY v VECTOR(3)", []string{"column `v` from int to vector(3)"}},
		{"JSON to DATE", "id INT PRIMARY KEY, v JSON", "(1, '\"2020-01-01\"')", "MODIFY v DATE", []string{"column `v` from json to date"}},
		{"point without a value", "id INT PRIMARY KEY", "(1)", "ADD p POINT NOT NULL", []string{"ADD COLUMN `p` point NOT NULL"}},
		{"no column kept", "id INT PRIMARY KEY", "(1)", "ADD c INT PRIMARY KEY, DROP COLUMN id", []string{"no column of the original is kept"}},
		{"partition dropped", "id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (9)", "(1)", "DROP PARTITION p", []string{"its rows would be"}},
		{"what the server refuses", "id INT PRIMARY KEY", "(1)", "ADD id INT", []string{"Duplicate column name 'id'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lab.use(t, func(w *worker) {
				execute(t, w.quiet, "DROP TABLE IF EXISTS t, p, _t_old, _t_new, _t_osc", "CREATE TABLE t ("+c.columns+")", "INSERT INTO t VALUES "+c.rows)
				_, err := engine.Run(t.Context(), w.config(t, c.alter))
				if got := engine.OutcomeOf(err); got != engine.Refused {
					t.Fatalf("outcome: got %d (%v), want %d", got, err, engine.Refused)
				}
				for _, want := range c.says {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %q, want it to say %q", err, want)
					}
				}
				if left := strings.Join(w.tables(t), ", "); left != "t" {
					t.Errorf("tables afterwards: got %s, want t", left)
				}
			})
		})
	}
}
