package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// wide is a table of all types at once. Few are changed, so most values must
// come through as they are.
func wide(r *rand.Rand) trial {
	definitions := []string{"id INT NOT NULL AUTO_INCREMENT PRIMARY KEY", "n INT NOT NULL"}
	types := columnTypes()
	for i, c := range types {
		definitions = append(definitions, fmt.Sprintf("c%d %s", i, c.def))
	}
	definitions = append(definitions, "CHECK (n < 100000)", "g INT AS (n + 1) STORED", "h VARCHAR(100) AS (c20) VIRTUAL")
	tr := trial{create: "(" + strings.Join(definitions, ", ") + ")", alter: "ADD COLUMN x VARCHAR(20) NOT NULL DEFAULT 'x' AFTER c3, MODIFY c4 BIGINT, MODIFY c20 VARCHAR(60), ADD KEY (c4)"}
	ids := r.Perm(1000)
	for n := range rowsPerKey {
		row := []string{strconv.Itoa(ids[n]), strconv.Itoa(n + 1)}
		for _, c := range types {
			row = append(row, c.values(r))
		}
		tr.rows = append(tr.rows, row)
	}
	return tr
}

// Whatever the server's settings, the result is what its own ALTER gives.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []string
	}{
		{"no strict mode", []string{"--sql-mode="}},
		{"strange modes", []string{"--sql-mode=TRADITIONAL,PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES,TIME_TRUNCATE_FRACTIONAL,HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT,NO_UNSIGNED_SUBTRACTION,REAL_AS_FLOAT,IGNORE_SPACE"}},
		{"ANSI", []string{"--sql-mode=ANSI,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO"}},
		{"small row images", []string{"--binlog-row-image=MINIMAL", "--binlog-row-value-options=PARTIAL_JSON", "--binlog-row-metadata=FULL"}},
		{"compressed binlog", []string{"--binlog-transaction-compression=ON", "--binlog-row-image=NOBLOB"}},
		{"implicit defaults", []string{"--explicit-defaults-for-timestamp=OFF"}},
		{"latin1", []string{"--character-set-server=latin1", "--collation-server=latin1_general_cs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newLab(t, c.options...)
			t.Run("wide", func(t *testing.T) {
				t.Parallel()
				r := random(t)
				lab.use(t, func(w *worker) { w.migrate(t, wide(r)).check(t) })
			})
			for _, c := range clauses() {
				if !strings.Contains("add without default, on update, zero dates, checks added, auto increment", c.name) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					r := random(t)
					lab.use(t, func(w *worker) { w.migrate(t, c.trial(r)).check(t) })
				})
			}
		})
	}
}

// A table without a primary key gets an invisible one, by which rows are told
// apart.
func TestGeneratedInvisibleKey(t *testing.T) {
	lab := newLab(t, "--sql-generate-invisible-primary-key=ON")
	lab.use(t, func(w *worker) {
		tr := trial{create: "(n INT NOT NULL, a INT)", alter: "MODIFY a BIGINT, ADD COLUMN b INT DEFAULT 5"}
		for n := range rowsPerKey {
			tr.rows = append(tr.rows, []string{strconv.Itoa(10*n + 3), strconv.Itoa(n + 1), strconv.Itoa(n)})
		}
		w.migrate(t, tr).check(t)

		execute(t, w.server.DB, "SET GLOBAL show_gipk_in_create_table_and_information_schema = OFF")
		execute(t, w.quiet, "DROP TABLE _t_old")
		_, err := engine.Run(t.Context(), w.config(t, "ADD COLUMN c INT"))
		if got := engine.OutcomeOf(err); got != engine.Refused {
			t.Errorf("outcome with the key hidden: got %d (%v), want %d", got, err, engine.Refused)
		}
	})
}

// A NULL that becomes the present time on its way is refused.
func TestImplicitTimes(t *testing.T) {
	lab := newLab(t, "--explicit-defaults-for-timestamp=OFF")
	lab.use(t, func(w *worker) {
		execute(t, w.quiet, "CREATE TABLE t (id INT PRIMARY KEY, v TIMESTAMP NULL)", "INSERT INTO t VALUES (1, NULL)")
		_, err := engine.Run(t.Context(), w.config(t, "MODIFY v TIMESTAMP NOT NULL"))
		if engine.OutcomeOf(err) != engine.Refused || !strings.Contains(err.Error(), "NOT NULL on column `v`") {
			t.Errorf("got %v, want a refusal that names the column", err)
		}
	})
}

// localZone makes a time zone in which clocks go forward at 01:00 UTC on 29
// March 2020 and back at 01:00 UTC on 25 October, and makes it the server's.
func localZone() []string {
	return []string{
		"INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (77, 'N')",
		"INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Test/Zone', 77)",
		"INSERT INTO mysql.time_zone_transition_type VALUES (77, 0, 3600, 0, 'WIN'), (77, 1, 7200, 1, 'SUM')",
		"INSERT INTO mysql.time_zone_transition VALUES (77, -2147483648, 0), (77, 1585443600, 1), (77, 1603587600, 0)",
		"SET GLOBAL time_zone = 'Test/Zone'",
	}
}

// An hour comes twice when clocks go back: two moments, and two keys.
func TestRepeatedHour(t *testing.T) {
	lab := newLab(t)
	execute(t, lab.server.DB, localZone()...)
	moments := func(r *rand.Rand, n int) string {
		return fmt.Sprintf("'2020-10-25 0%d:%02d:00'", r.IntN(3), 10+n)
	}
	for _, c := range []clause{
		{name: "key", key: "id INT NOT NULL, PRIMARY KEY (k)", columns: "k TIMESTAMP NOT NULL, a INT", values: []source{moments, number}, alter: "MODIFY a BIGINT"},
		{name: "to DATETIME", columns: "k TIMESTAMP NOT NULL", values: []source{moments}, alter: "MODIFY k DATETIME NOT NULL"},
		{name: "from DATETIME", columns: "k DATETIME NOT NULL", values: []source{moments}, alter: "MODIFY k TIMESTAMP NOT NULL"},
		{name: "to text", columns: "k TIMESTAMP NOT NULL", values: []source{moments}, alter: "MODIFY k VARCHAR(30)"},
		{name: "fraction", columns: "k TIMESTAMP NOT NULL", values: []source{moments}, alter: "MODIFY k TIMESTAMP(3) NOT NULL"},
		{name: "kept", columns: "k TIMESTAMP NOT NULL, l DATETIME", values: []source{moments, moments}, alter: "ADD c INT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := c.trial(random(t))
			// In this zone, MySQL's own ALTER moves a TIMESTAMP that it needs not
			// even touch from the second of the two hours to the first. The engine
			// keeps the moment, as MySQL does in UTC.
			tr.utc = c.name == "key" || c.name == "fraction" || c.name == "kept"
			lab.use(t, func(w *worker) { w.migrate(t, tr).check(t) })
		})
	}
}

// Rows that are there when a column with CURRENT_TIMESTAMP is added get one
// time, in the server's own zone, as in MySQL's own ALTER.
func TestTimeOfAlter(t *testing.T) {
	lab := newLab(t)
	lab.use(t, func(w *worker) {
		r := random(t)
		c := clause{columns: "a INT", values: []source{number}, alter: "ADD d DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, " +
			"ADD s TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)"}
		tr := c.trial(r)
		w.prepare(t, tr)
		if result := w.run(t, tr); result.err != nil {
			t.Fatal(result.err)
		}
		var times, off int
		err := lab.server.DB.QueryRowContext(t.Context(), "SELECT COUNT(DISTINCT d) + COUNT(DISTINCT s), "+
			"GREATEST(ABS(TIMESTAMPDIFF(SECOND, MIN(d), NOW())), ABS(TIMESTAMPDIFF(SECOND, MIN(s), NOW()))) FROM "+w.schema+".t").Scan(&times, &off)
		must(t, err)
		if limit := int(time.Minute.Seconds()); times != 2 || off > limit {
			t.Errorf("got %d times, %d seconds from now; want 2, at most %d", times, off, limit)
		}
	})
}

// The pass before the cut-over sees a wrong value also in a column that only
// the server can convert.
func TestVerifyConverted(t *testing.T) {
	lab := newLab(t)
	for _, c := range []struct{ name, column, value, alter, wrong string }{
		{"compared by the server", "v VARBINARY(20)", "'abcd'", "MODIFY v VARCHAR(20) CHARACTER SET ucs2", "_ucs2'abce'"},
		{"double to text", "v DOUBLE", "1.5", "MODIFY v VARCHAR(20)", "'1.50'"},
		{"text to decimal", "v VARCHAR(20)", "'1.5'", "MODIFY v DECIMAL(9,2)", "1.51"},
		{"compared by digests", "v INT", "5", "MODIFY v BIGINT", "6"},
		{"in partitions", "v VARBINARY(20)", "'abcd'", "MODIFY v VARCHAR(20) CHARACTER SET ucs2, PARTITION BY HASH (id) PARTITIONS 2", "_ucs2'abce'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab.use(t, func(w *worker) {
				execute(t, w.quiet, "DROP TABLE IF EXISTS t, p, _t_old, _t_new, _t_osc", "CREATE TABLE t (id INT PRIMARY KEY, "+c.column+")",
					"INSERT INTO t VALUES (1, "+c.value+"), (7, "+c.value+")")
				gate := w.proxy.Gate(wire.Rule{Step: step.Verify, Occurrence: 1})
				defer gate.Remove()
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, err = engine.Run(t.Context(), w.config(t, strings.Replace(c.alter, ", PARTITION", " PARTITION", 1)))
				}()
				select {
				case <-gate.Reached():
					execute(t, w.quiet, "UPDATE _t_new SET v = "+c.wrong+" WHERE id = 7")
					gate.Release()
				case <-done:
				}
				<-done
				w.checkAborted(t, err, []string{"`id` = 7", "differs in v"}, 2)
			})
		})
	}
}
