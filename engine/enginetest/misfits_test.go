package enginetest

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"rowproof/engine"
	"rowproof/engine/mysql"
	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// misfit is a row that the new definition can't hold.
type misfit struct {
	name    string
	columns string
	fits    string // the value of the other rows
	bad     string
	alter   string
	names   string // the column, or what else is to blame
}

func misfits() []misfit {
	return []misfit{
		{"text too long", "v VARCHAR(20)", "'short'", "'far too long'", "MODIFY v VARCHAR(5)", "`v`"},
		{"bytes too long", "v BLOB", "'short'", "'far too long'", "MODIFY v VARBINARY(5)", "`v`"},
		{"text too long for TINYTEXT", "v TEXT", "'a'", "REPEAT('a', 300)", "MODIFY v TINYTEXT", "`v`"},
		{"number too big", "v INT", "1", "300", "MODIFY v TINYINT", "`v`"},
		{"negative number", "v INT", "1", "-1", "MODIFY v INT UNSIGNED", "`v`"},
		{"decimal too big", "v DECIMAL(10,2)", "1.5", "12345.6", "MODIFY v DECIMAL(5,2)", "`v`"},
		{"double too big", "v DOUBLE", "1", "1e300", "MODIFY v FLOAT", "`v`"},
		{"no number", "v VARCHAR(20)", "'12'", "'twelve'", "MODIFY v INT", "`v`"},
		{"half a number", "v VARCHAR(20)", "'12.5'", "'12 pears'", "MODIFY v DECIMAL(9,2)", "`v`"},
		{"no date", "v VARCHAR(20)", "'2024-02-29'", "'2023-02-29'", "MODIFY v DATE", "`v`"},
		{"no time", "v VARCHAR(20)", "'10:11'", "'noon'", "MODIFY v TIME", "`v`"},
		{"out of the TIMESTAMP's range", "v DATETIME", "'2020-01-01 00:00:00'", "'2040-01-01 00:00:00'", "MODIFY v TIMESTAMP NULL", "`v`"},
		{"no year", "v INT", "2024", "3000", "MODIFY v YEAR", "`v`"},
		{"no bit", "v INT UNSIGNED", "1", "2", "MODIFY v BIT(1)", "`v`"},
		{"no member of the ENUM", "v ENUM('a','b')", "'a'", "'b'", "MODIFY v ENUM('a','c')", "`v`"},
		{"no member of the SET", "v SET('a','b')", "'a'", "'a,b'", "MODIFY v SET('a','c')", "`v`"},
		{"text that is no member", "v VARCHAR(9)", "'a'", "'x'", "MODIFY v ENUM('a','b')", "`v`"},
		{"not JSON", "v TEXT", "'[1]'", "'[1'", "MODIFY v JSON", "`v`"},
		{"bytes that are no JSON", "v BLOB", "NULL", "'[1]'", "MODIFY v JSON", "`v`"},
		{"no geometry", "v BLOB", "NULL", "'POINT(1 1)'", "MODIFY v GEOMETRY", "`v`"},
		{"another kind of geometry", "v GEOMETRY", "ST_GeomFromText('POINT(1 1)')", "ST_GeomFromText('LINESTRING(0 0, 1 1)')", "MODIFY v POINT", "`v`"},
		{"another SRID", "v POINT", "ST_GeomFromText('POINT(1 1)', 4326)", "ST_GeomFromText('POINT(1 1)', 0)", "MODIFY v POINT SRID 4326", "column 'v'"},
		{"vector too long", "v VECTOR(3)", "STRING_TO_VECTOR('[1]')", "STRING_TO_VECTOR('[1,2,3]')", "MODIFY v VECTOR(2)", "`v`"},
		{"no vector", "v VARBINARY(20)", "STRING_TO_VECTOR('[1]')", "'abc'", "MODIFY v VECTOR(3)", "`v`"},
		{"no letter of latin1", "v VARCHAR(20)", "'é'", "'日本'", "MODIFY v VARCHAR(20) CHARACTER SET latin1", "`v`"},
		{"no letter of cp1251", "v VARCHAR(20)", "'ж'", "'é'", "CONVERT TO CHARACTER SET cp1251", "`v`"},
		{"no letter of ucs2", "v VARCHAR(20)", "'ж'", "'😀'", "MODIFY v VARCHAR(20) CHARACTER SET ucs2", "`v`"},
		{"bytes that are no utf8mb4", "v VARBINARY(20)", "'é'", "X'C328'", "MODIFY v VARCHAR(20)", "`v`"},
		{"NULL", "v INT", "1", "NULL", "MODIFY v INT NOT NULL", "`v`"},
		{"NULL in a TIMESTAMP", "v TIMESTAMP NULL", "'2020-01-01 00:00:00'", "NULL", "MODIFY v TIMESTAMP NOT NULL", "`v`"},
		{"another column's name", "v INT, w INT AS (v) STORED", "1", "300", "CHANGE v `the value` TINYINT, MODIFY w INT AS (`the value`) STORED", "`the value`"},
		{"check", "v INT", "1", "-1", "ADD CONSTRAINT positive CHECK (v > 0)", "'positive'"},
		{"check without a name", "v INT", "1", "-1", "ADD CHECK (v > 0)", "_chk_1"},
		{"generated", "v INT", "1", "0", "ADD w INT AS (5 DIV v) STORED", "Division by 0"},
		{"generated too long", "v VARCHAR(20)", "'a'", "'too long'", "ADD w VARCHAR(3) AS (v) STORED", "'w'"},
		{"no partition", "v INT", "1", "-1", "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (2))", "no partition"},
		{"duplicate", "v INT, w INT AS (ABS(v))", "1", "-1", "ADD UNIQUE KEY uw (w)", "'uw'"},
		{"duplicate under a collation", "v VARCHAR(9) COLLATE utf8mb4_bin, UNIQUE KEY uv (v)", "'x'", "'X'", "MODIFY v VARCHAR(9) COLLATE utf8mb4_general_ci", "'uv'"},
		{"duplicate in partitions", "v INT", "1", "1", "ADD UNIQUE KEY uv (v, k), DROP PRIMARY KEY, ADD PRIMARY KEY (id, k) PARTITION BY KEY (k) PARTITIONS 3", "'uv'"},
		{"duplicate beside a FULLTEXT index", "v VARCHAR(9), FULLTEXT KEY fv (v)", "'x'", "'x '", "MODIFY v CHAR(9), ADD UNIQUE KEY uv (v)", "'uv'"},
	}
}

// What the new definition can't hold ends the migration with the names of the
// row and the column, whether the row was there, came while the table was
// copied or just before it was locked, and the original stays as it was.
func TestMisfits(t *testing.T) {
	lab := newLab(t)
	for i, m := range misfits() {
		moments := []step.Step{"", step.Verify}
		if i%8 == 0 { // it takes a second
			moments = append(moments, step.Lock)
		}
		for _, late := range moments {
			t.Run(m.name+"/before "+cmp.Or(string(late), "all"), func(t *testing.T) {
				t.Parallel()
				lab.use(t, func(w *worker) { w.misfit(t, m, late) })
			})
		}
	}
}

// misfit migrates a table into which the bad row comes at a moment, or before
// the migration.
func (w *worker) misfit(t *testing.T, m misfit, late step.Step) {
	t.Helper()
	execute(t, w.quiet, "DROP TABLE IF EXISTS t, p, _t_old, _t_new, _t_osc",
		"CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL DEFAULT 0, "+m.columns+")",
		"INSERT INTO t (id, v) VALUES (1, "+m.fits+")")
	insert := "INSERT INTO t (id, v) VALUES (7, " + m.bad + ")"
	var hold *wire.Gate
	if late != "" {
		hold = w.proxy.Gate(wire.Rule{Step: late, Occurrence: 1})
		defer hold.Remove()
	} else {
		execute(t, w.quiet, insert)
	}
	var r result
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.summary, r.err = engine.Run(t.Context(), w.config(t, m.alter))
	}()
	if late != "" {
		select {
		case <-hold.Reached():
			execute(t, w.loud, insert)
			hold.Release()
		case <-done:
		}
	}
	<-done
	w.checkAborted(t, r.err, []string{"`id` = 7", m.names}, 2)
}

// checkAborted checks what the migration ended with, and that the original is
// whole and nothing else is left.
func (w *worker) checkAborted(t *testing.T, err error, names []string, rows int) {
	t.Helper()
	if got := engine.OutcomeOf(err); got != engine.Aborted {
		t.Fatalf("outcome: got %d (%v), want %d", got, err, engine.Aborted)
	}
	for _, name := range names {
		if strings.Contains(err.Error(), "duplicate value") && strings.HasPrefix(name, "`id` =") {
			continue // either row may be named
		}
		if text := err.Error(); !strings.Contains(text, name) && !strings.Contains(text, strings.ReplaceAll(name, "`", "'")) {
			t.Errorf("got %q, want it to name %s", err, name)
		}
	}
	if left := strings.Join(w.tables(t), ", "); left != "t" {
		t.Errorf("tables afterwards: got %s, want t", left)
	}
	var n int
	must(t, w.quiet.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t").Scan(&n))
	if n != rows {
		t.Errorf("rows of the original: got %d, want %d", n, rows)
	}
}

// strangeValues is how many pairs of types are drawn for TestMisfitsOfTypes.
const strangeValues = 60

// Whatever value MySQL's own ALTER refuses, the engine refuses too.
func TestMisfitsOfTypes(t *testing.T) {
	lab := newLab(t)
	r := random(t)
	pairs := typePairs(r)
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for _, p := range pairs[:strangeValues] {
		if p.from.family == "decimal" && strings.HasPrefix(p.to.def, "BIGINT UNSIGNED") {
			continue // MySQL refuses numbers above 2^63 that fit
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			lab.use(t, func(w *worker) {
				r := random(t)
				for range valuesPerPair {
					v := p.from.values(r)
					if mysql.ErrorNumber(w.converts(t, p, []string{v})) == 0 {
						continue
					}
					execute(t, w.quiet, "DROP TABLE IF EXISTS t, p, _t_old, _t_new, _t_osc",
						"CREATE TABLE t (id INT PRIMARY KEY, v "+p.from.def+")", fmt.Sprintf("INSERT INTO t VALUES (1, NULL), (7, %s)", v))
					_, err := engine.Run(t.Context(), w.config(t, "MODIFY v "+p.to.def))
					w.checkAborted(t, err, []string{"`id` = 7", "`v`"}, 2)
					return
				}
			})
		})
	}
}
