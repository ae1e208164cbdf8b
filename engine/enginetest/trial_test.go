package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/engine/mysql"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// trial is one migration of a table t.
type trial struct {
	create string     // what follows CREATE TABLE t; column n numbers the rows
	rows   [][]string // SQL values of the columns that are not generated, in order; n first
	alter  string
	utc    bool // MySQL's own ALTER runs in UTC instead of the server's zone
}

// An insert is followed by half as many rows in reserve, from which the
// writes take their values: rows that the table could hold beside its own.
func (tr trial) own() int { return (len(tr.rows) + 1) / 2 }

// result is what came of a trial.
type result struct {
	summary engine.Summary
	err     error
	diffs   []history.RowDiff
	schema  []string // differences of the definitions
}

// migrate runs a trial that must complete, and compares.
func (w *worker) migrate(t *testing.T, tr trial) result {
	t.Helper()
	w.prepare(t, tr)
	r := w.run(t, tr)
	if r.err != nil {
		return r
	}
	w.compare(t, tr, &r)
	return r
}

// prepare makes the tables: t, and p with the reserve.
func (w *worker) prepare(t *testing.T, tr trial) {
	t.Helper()
	execute(t, w.quiet, "DROP TABLE IF EXISTS t, p, _t_old, _t_new, _t_osc", "CREATE TABLE t "+tr.create, "CREATE TABLE p LIKE t")
	if len(tr.rows) == 0 {
		return
	}
	columns := w.columns(t)
	names := quoted(columns.all)
	var values []string
	for _, row := range tr.rows {
		values = append(values, "("+strings.Join(row, ", ")+")")
	}
	execute(t, w.quiet,
		"INSERT INTO p ("+names+") VALUES "+strings.Join(values, ", "),
		fmt.Sprintf("INSERT INTO t (%s) SELECT %s FROM p WHERE n <= %d", names, names, tr.own()))
}

// columns are the names of t's columns that are not generated.
type columns struct {
	all, key, others []string // others: neither n nor of the key
}

func (w *worker) columns(t *testing.T) columns {
	t.Helper()
	d, err := observe.Describe(t.Context(), w.quiet, observe.TableRef{Schema: w.schema, Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	var c columns
	c.key = d.Key
	for _, column := range d.Columns {
		if column.Generated {
			continue
		}
		c.all = append(c.all, column.Name)
		if column.Name != "n" && !slices.Contains(d.Key, column.Name) {
			c.others = append(c.others, column.Name)
		}
	}
	return c
}

// run migrates t. While the proxy holds the migration, rows are written: after
// the first chunk, after the last one, and before the tables are locked.
func (w *worker) run(t *testing.T, tr trial) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	moments := []wire.Rule{{Step: step.CopyWrite, Occurrence: 2}, {Step: step.Verify, Occurrence: 1}, {Step: step.Lock, Occurrence: 1}}
	gates := make([]*wire.Gate, len(moments))
	for i, m := range moments {
		gates[i] = w.proxy.Gate(m)
		defer gates[i].Remove()
	}
	var r result
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.summary, r.err = engine.Run(ctx, w.config(t, tr.alter))
	}()
	next := 0 // of the rows that are not touched yet
	columns := w.columns(t)
	for _, gate := range gates {
		select {
		case <-gate.Reached():
		case <-done:
			return r
		}
		w.write(t, columns, next, tr.own())
		next++
		gate.Release()
	}
	<-done
	return r
}

func (w *worker) config(t *testing.T, alter string) engine.Config {
	t.Helper()
	host, port := w.address(t)
	cfg := engine.Config{
		Server: mysql.Config{Host: host, Port: port, User: topology.Migrator().User, Password: topology.Migrator().Password, Schema: w.schema},
		Table:  "t", Alter: alter, Execute: true,
	}
	cfg.Copy.ChunkSize = 7
	// Not "auto": that goes by who else follows the server, and the other
	// workers' migrations do.
	cfg.Copy.DeferIndexes = engine.DeferOff
	if random(t).IntN(2) == 0 {
		cfg.Copy.DeferIndexes = engine.DeferOn
	}
	return cfg
}

// write changes four rows and adds one, all in one transaction: new values
// under the same key, a new key, a delete, and a delete with another row
// taking its key.
func (w *worker) write(t *testing.T, c columns, round, own int) {
	t.Helper()
	row, reserve := func(i int) int { return 1 + round + 3*i }, func(i int) int { return own + 1 + round + 3*i }
	if reserve(3) > 2*own || row(3) > own {
		t.Fatalf("%d rows are too few for the writes", own)
	}
	from := func(names []string) string {
		set := make([]string, len(names))
		for i, n := range names {
			set[i] = fmt.Sprintf("t.%s = p.%s", quote(n), quote(n))
		}
		return strings.Join(set, ", ")
	}
	var statements []string
	if len(c.others) > 0 {
		statements = append(statements, fmt.Sprintf("UPDATE t JOIN p ON p.n = %d SET %s WHERE t.n = %d", reserve(0), from(c.others), row(0)))
	}
	keyed := slices.Concat(c.key, c.others)
	keyed = slices.DeleteFunc(keyed, func(name string) bool { return name == "n" })
	taken := make([]string, len(c.all))
	for i, name := range c.all {
		taken[i] = "p." + quote(name)
		if name == "n" || slices.Contains(c.key, name) {
			taken[i] = "t." + quote(name)
		}
	}
	statements = append(statements,
		fmt.Sprintf("UPDATE t JOIN p ON p.n = %d SET %s WHERE t.n = %d", reserve(1), from(keyed), row(1)),
		fmt.Sprintf("DELETE FROM t WHERE n = %d", row(2)),
		fmt.Sprintf("INSERT INTO t (%s) SELECT %s FROM p WHERE n = %d", quoted(c.all), quoted(c.all), reserve(2)),
		fmt.Sprintf("REPLACE INTO t (%s) SELECT %s FROM t JOIN p ON p.n = %d WHERE t.n = %d",
			quoted(c.all), strings.Join(taken, ", "), reserve(3), row(3)))
	// It may lose a deadlock against the copy or the applier, as any
	// application may.
	for w.transaction(t, statements) == deadlock {
	}
}

const deadlock = 1213

// transaction returns 0, or deadlock if nothing was done.
func (w *worker) transaction(t *testing.T, statements []string) uint16 {
	t.Helper()
	tx, err := w.loud.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	for _, s := range statements {
		_, err := tx.ExecContext(t.Context(), s)
		if mysql.ErrorNumber(err) == deadlock {
			return deadlock
		}
		if err != nil {
			t.Fatalf("write while the table is migrated: %s: %v", s, err)
		}
	}
	must(t, tx.Commit())
	return 0
}

// compare makes the oracle of the old table and compares rows and definition.
func (w *worker) compare(t *testing.T, tr trial, r *result) {
	t.Helper()
	if err := w.makeOracle(t, tr); err != nil {
		t.Errorf("MySQL itself refuses the ALTER: %v", err)
		return
	}
	want := observe.Side{DB: w.quiet, Table: observe.TableRef{Schema: w.oracle, Name: "t"}}
	got := observe.Side{DB: w.quiet, Table: observe.TableRef{Schema: w.schema, Name: "t"}}
	c, err := observe.Compare(t.Context(), want, got, observe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.diffs = c.Diffs
	if c.Rows != c.FinalRows && len(c.Diffs) == 0 {
		t.Errorf("rows: got %d, want %d", c.FinalRows, c.Rows)
	}
	diffs, err := observe.Schema(t.Context(), want, got)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffs {
		r.schema = append(r.schema, fmt.Sprintf("%s: got %s, want %s", d.Object, d.Got, d.Want))
	}
	// Schema leaves out the names of constraints.
	if w, g := w.definition(t, w.oracle), w.definition(t, w.schema); w != g && len(diffs) == 0 {
		r.schema = append(r.schema, fmt.Sprintf("definition: got\n%s\nwant\n%s", g, w))
	}
	if left := w.tables(t); !slices.Equal(left, []string{"_t_old", "p", "t"}) {
		t.Errorf("tables afterwards: got %v, want _t_old, p and t", left)
	}
	if !r.summary.Verified {
		t.Error("the migration was not verified")
	}
}

// makeOracle takes the rows of the old table through MySQL's own ALTER, in a
// table of the same name and definition in another schema, as the server's
// default session does it. Its error is the ALTER's.
func (w *worker) makeOracle(t *testing.T, tr trial) error {
	t.Helper()
	names := quoted(w.columnsOf(t, "_t_old"))
	from, to := quote(w.schema)+"._t_old", quote(w.oracle)+".t"
	conn, err := w.quiet.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(s string) error {
		_, err := conn.ExecContext(t.Context(), s)
		return err
	}
	var next sql.NullInt64
	must(t, run("SET SESSION information_schema_stats_expiry = 0"))
	must(t, conn.QueryRowContext(t.Context(), "SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = '_t_old'",
		w.schema).Scan(&next))
	must(t, run("DROP TABLE IF EXISTS "+to))
	must(t, run("CREATE TABLE "+to+" "+tr.create))
	must(t, run("INSERT INTO "+to+" ("+names+") SELECT "+names+" FROM "+from))
	if next.Valid {
		must(t, run(fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", to, next.Int64)))
	}
	must(t, run("SET SESSION sql_mode = DEFAULT"))
	if !tr.utc {
		must(t, run("SET SESSION time_zone = DEFAULT"))
	}
	defer func() { must(t, run("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', SESSION time_zone = '+00:00'")) }()
	err = run("ALTER TABLE " + to + " " + tr.alter)
	if err != nil && zeroDate.MatchString(err.Error()) {
		// The engine keeps a zero date that is there as it is. MySQL does so too
		// where it allows one.
		must(t, run("SET SESSION sql_mode = REPLACE(REPLACE(REPLACE(@@global.sql_mode, 'NO_ZERO_IN_DATE', ''), 'NO_ZERO_DATE', ''), 'TRADITIONAL', '')"))
		err = run("ALTER TABLE " + to + " " + tr.alter)
	}
	return err
}

var zeroDate = regexp.MustCompile(`Incorrect date(time)? value: '\d{4}-0?\d-00|Incorrect date(time)? value: '0000-00-00`)

func (w *worker) columnsOf(t *testing.T, table string) []string {
	t.Helper()
	d, err := observe.Describe(t.Context(), w.quiet, observe.TableRef{Schema: w.schema, Name: table})
	must(t, err)
	var names []string
	for _, c := range d.Columns {
		if !c.Generated {
			names = append(names, c.Name)
		}
	}
	return names
}

var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

func (w *worker) definition(t *testing.T, schema string) string {
	t.Helper()
	var name, text string
	must(t, w.quiet.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+quote(schema)+".t").Scan(&name, &text))
	return nextNumber.ReplaceAllString(text, "")
}

func (w *worker) tables(t *testing.T) []string {
	t.Helper()
	var names string
	must(t, w.quiet.QueryRowContext(t.Context(),
		"SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?", w.schema).Scan(&names))
	return strings.Split(names, ",")
}

// check reports everything in which a completed trial differs.
func (r result) check(t *testing.T) {
	t.Helper()
	if r.err != nil {
		t.Errorf("the migration ended with: %v", r.err)
	}
	for _, d := range r.schema {
		t.Errorf("the definition differs in %s", d)
	}
	for _, d := range r.diffs {
		t.Errorf("a row differs: %s", describe(d))
	}
}

func describe(d history.RowDiff) string {
	show := func(row history.Row) string {
		if row == nil {
			return "no such row"
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(row)) {
			if len(d.Columns) > 0 && !slices.Contains(d.Columns, name) {
				continue
			}
			v := "NULL"
			if row[name] != nil {
				v = *row[name]
			}
			parts = append(parts, fmt.Sprintf("%s=%.100q", name, v))
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprintf("key %q: got %s (%v), want %s (%v)", d.Key, show(d.Got), d.GotHex, show(d.Want), d.WantHex)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func quoted(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = quote(n)
	}
	return strings.Join(q, ", ")
}
