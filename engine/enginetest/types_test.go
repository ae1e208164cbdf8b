package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rowproof/engine/mysql"
)

// pair is one type turned into another.
type pair struct {
	from, to columnType
	fits     []string // values that MySQL's own ALTER converts
	misfits  []string // values that it refuses
}

func (p pair) String() string { return p.from.def + " to " + p.to.def }

// crossesZones tells whether the session's time zone matters. A migration with
// such a column runs in the server's own zone, all others in UTC.
func (p pair) crossesZones() bool {
	return strings.HasPrefix(p.from.def, "TIMESTAMP") != strings.HasPrefix(p.to.def, "TIMESTAMP")
}

// refused tells whether the engine refuses the conversion.
func (p pair) refused() bool {
	to := p.to.family
	switch {
	case p.from.family == to && !strings.HasPrefix(p.from.def, "TIME"):
		return false
	case to == "temporal" && p.from.family != "temporal":
		return p.from.family == "json"
	case to == "temporal":
		return strings.HasPrefix(p.from.def, "TIME") && !strings.HasPrefix(p.from.def, "TIMESTAMP") && !strings.HasPrefix(p.to.def, "TIME(") && p.to.def != "TIME"
	case to == "bit":
		return p.from.family != "integer" && p.from.family != "year"
	case to == "year":
		return p.from.family == "float" || p.from.family == "temporal"
	case to == "vector":
		return p.from.family != "bytes"
	}
	return false
}

// strangers is how many pairs of types that have little in common are drawn.
const strangers = 150

// typePairs are all pairs within a family or to text and bytes, and some of
// the others.
func typePairs(r *rand.Rand) []pair {
	near := map[string][]string{
		"integer": {"integer", "decimal", "text"}, "decimal": {"integer", "decimal", "float"}, "float": {"float", "decimal"},
		"bit": {"bit", "integer"}, "year": {"year", "integer", "text"}, "text": {"text", "bytes", "json"}, "bytes": {"bytes"},
		"enum": {"enum", "text"}, "set": {"set", "text"}, "temporal": {"temporal"}, "json": {"json"}, "spatial": {"spatial"}, "vector": {"vector", "bytes"},
	}
	var pairs, far []pair
	for _, from := range columnTypes() {
		for _, to := range columnTypes() {
			p := pair{from: from, to: to}
			if p.refused() {
				continue
			}
			if slices.Contains(near[from.family], to.family) {
				pairs = append(pairs, p)
			} else {
				far = append(far, p)
			}
		}
	}
	r.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
	return append(pairs, far[:strangers]...)
}

const (
	valuesPerPair = 12
	rowsPerTrial  = 48
	pairsPerTrial = 12
)

// Each column type is turned into each other that it can become.
func TestTypes(t *testing.T) {
	lab := newLab(t)
	r := random(t)
	pairs := typePairs(r)
	t.Logf("%d pairs of types, each with rows that were copied and rows that were applied", len(pairs))
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return strings.Compare(fmt.Sprint(a.crossesZones()), fmt.Sprint(b.crossesZones()))
	})
	number := 0
	for group := range slices.Chunk(pairs, pairsPerTrial) {
		number++
		t.Run(strconv.Itoa(number), func(t *testing.T) {
			t.Parallel()
			lab.use(t, func(w *worker) { w.types(t, group) })
		})
	}
}

// types migrates a table with one column for each pair.
func (w *worker) types(t *testing.T, group []pair) {
	r := random(t)
	definitions, clauses := []string{"id INT NOT NULL PRIMARY KEY", "n INT NOT NULL"}, []string{}
	for i := range group {
		w.sort(t, r, &group[i])
		definitions = append(definitions, fmt.Sprintf("c%d %s", i, group[i].from.def))
		clauses = append(clauses, fmt.Sprintf("MODIFY c%d %s", i, group[i].to.def))
	}
	tr := trial{create: "(" + strings.Join(definitions, ", ") + ")", alter: strings.Join(clauses, ", ")}
	ids := r.Perm(1000)
	for n := range rowsPerTrial {
		row := []string{strconv.Itoa(ids[n] - 500), strconv.Itoa(n + 1)}
		for _, p := range group {
			value := "NULL"
			if len(p.fits) > 0 && r.IntN(10) > 0 {
				value = p.fits[r.IntN(len(p.fits))]
			}
			row = append(row, value)
		}
		tr.rows = append(tr.rows, row)
	}
	result := w.migrate(t, tr)
	if result.err != nil {
		t.Fatalf("%v: %v", group, result.err)
	}
	for i, p := range group {
		t.Run(p.String(), func(t *testing.T) {
			for _, d := range result.schema {
				if strings.Contains(d, fmt.Sprintf("c%d", i)) || !strings.HasPrefix(d, "column") {
					t.Errorf("the definition differs in %s", d)
				}
			}
			for _, d := range result.diffs {
				if t.Failed() {
					break // one row is enough
				}
				if len(d.Columns) == 0 || slices.Contains(d.Columns, fmt.Sprintf("c%d", i)) {
					t.Errorf("a row differs: %s", describe(d))
				}
			}
		})
	}
}

var atRow = regexp.MustCompile(` at row (\d+)$`)

// sort draws values and lets MySQL's own ALTER tell which of them fit.
func (w *worker) sort(t *testing.T, r *rand.Rand, p *pair) {
	t.Helper()
	var left []string
	for range valuesPerPair {
		v := p.from.values(r)
		if !slices.Contains(left, v) {
			left = append(left, v)
		}
	}
	p.fits = w.fitting(t, *p, left)
	for _, v := range left {
		if !slices.Contains(p.fits, v) {
			p.misfits = append(p.misfits, v)
		}
	}
}

// fitting returns the values that convert. MySQL names the row of most that
// don't; without that, each is tried alone.
func (w *worker) fitting(t *testing.T, p pair, values []string) []string {
	t.Helper()
	for len(values) > 0 {
		err := w.converts(t, p, values)
		if err == nil {
			return values
		}
		found := atRow.FindStringSubmatch(mysql.ErrorMessage(err))
		if found == nil {
			if len(values) == 1 {
				return nil
			}
			var fits []string
			for _, v := range values {
				if w.converts(t, p, []string{v}) == nil {
					fits = append(fits, v)
				}
			}
			return fits
		}
		n, _ := strconv.Atoi(found[1])
		if n < 1 || n > len(values) {
			t.Fatalf("%s: %v: no such row", p, err)
		}
		values = slices.Concat(values[:n-1], values[n:])
	}
	return nil
}

// converts runs MySQL's own ALTER over the values.
func (w *worker) converts(t *testing.T, p pair, values []string) error {
	t.Helper()
	conn, err := w.quiet.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	run := func(s string) error {
		_, err := conn.ExecContext(t.Context(), s)
		return err
	}
	rows := make([]string, len(values))
	for i, v := range values {
		rows[i] = fmt.Sprintf("(%d, %s)", i, v)
	}
	must(t, run("DROP TABLE IF EXISTS x"))
	must(t, run("CREATE TABLE x (i INT PRIMARY KEY, c "+p.from.def+")"))
	if err := run("INSERT INTO x VALUES " + strings.Join(rows, ", ")); err != nil {
		t.Fatalf("%s: %.200s: %v", p.from.def, strings.Join(rows, ", "), err)
	}
	must(t, run("SET SESSION sql_mode = DEFAULT, SESSION time_zone = DEFAULT"))
	defer func() {
		must(t, run("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', SESSION time_zone = '+00:00'"))
		must(t, run("DROP TABLE x"))
	}()
	if err := run("ALTER TABLE x MODIFY c " + p.to.def); err != nil {
		return err
	}
	// A value of which something gets lost silently is none that fits: the
	// engine stops at it.
	var warnings int
	must(t, conn.QueryRowContext(t.Context(), "SELECT @@warning_count").Scan(&warnings))
	if warnings > 0 {
		return errWarned
	}
	if !p.lax() {
		return nil
	}
	must(t, run("DROP TABLE IF EXISTS y"))
	must(t, run("CREATE TABLE y (c "+p.to.def+")"))
	defer func() { must(t, run("DROP TABLE y")) }()
	must(t, run("DELETE FROM x"))
	must(t, run("SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', SESSION time_zone = '+00:00'"))
	must(t, run("ALTER TABLE x MODIFY c "+p.from.def))
	must(t, run("INSERT INTO x VALUES "+strings.Join(rows, ", ")))
	must(t, run("SET SESSION sql_mode = DEFAULT"))
	return run("INSERT INTO y SELECT c FROM x")
}

var errWarned = errors.New("MySQL converts it with a warning")

// lax tells whether MySQL's ALTER takes garbage without a word: '3 pears' for
// the number 3, any bytes for a vector, the biggest BIGINT for 1e30. The
// engine stops at it.
func (p pair) lax() bool {
	switch p.from.family {
	case "float":
		return p.to.family == "integer"
	case "text", "bytes", "json", "spatial", "vector":
		return p.to.family == "decimal" || p.to.family == "vector"
	}
	return false
}
