package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// keyType is a type that tells rows apart.
type keyType struct {
	def    string
	values func(r *rand.Rand) string
	small  bool     // too few values for a key: a second column joins it
	wider  []string // types that hold all its values
}

func keyTypes() []keyType {
	textual := func(def, letters string, wider ...string) keyType {
		return keyType{def: def, values: texts(12, letters, "'a  '", "' a'", "'ab'", "'aB'", "'_'", "'%'", "'\\\\'"), wider: wider}
	}
	return []keyType{
		{def: "TINYINT", values: integers(-128, 127), wider: []string{"INT", "BIGINT"}},
		{def: "TINYINT UNSIGNED", values: integers(0, 255), wider: []string{"SMALLINT"}},
		{def: "SMALLINT", values: integers(-32768, 32767), wider: []string{"MEDIUMINT"}},
		{def: "MEDIUMINT", values: integers(-1<<23, 1<<23-1), wider: []string{"BIGINT"}},
		{def: "MEDIUMINT UNSIGNED", values: integers(0, 1<<24-1), wider: []string{"INT"}},
		{def: "INT", values: integers(-1<<31, 1<<31-1), wider: []string{"BIGINT"}},
		{def: "INT UNSIGNED", values: integers(0, 1<<32-1), wider: []string{"BIGINT"}},
		{def: "INT(9) UNSIGNED ZEROFILL", values: integers(0, 1<<32-1), wider: []string{"BIGINT UNSIGNED"}},
		{def: "BIGINT", values: integers(-1<<63, 1<<63-1)},
		{def: "BIGINT UNSIGNED", values: integers(0, 1<<64-1)},
		{def: "DECIMAL(10,3)", values: decimals(7, 3, "", "-"), wider: []string{"DECIMAL(14,5)"}},
		{def: "DECIMAL(65,30)", values: decimals(35, 30, "-", "")},
		{def: "DECIMAL(20,0) UNSIGNED", values: decimals(20, 0, ""), wider: []string{"DECIMAL(22,0)"}},
		{def: "BIT(1)", values: edges(nil, "0", "1"), small: true, wider: []string{"BIT(9)"}},
		{def: "BIT(64)", values: integers(0, 1<<64-1)},
		{def: "YEAR", values: edges(func(r *rand.Rand) string { return fmt.Sprint(1901 + r.IntN(255)) }, "0", "1901", "2155")},
		textual("CHAR(12)", anything, "VARCHAR(20)"),
		textual("VARCHAR(12)", anything, "VARCHAR(200)", "VARCHAR(12) COLLATE utf8mb4_bin", "VARCHAR(20) COLLATE utf8mb4_general_ci"),
		textual("VARCHAR(12) COLLATE utf8mb4_general_ci", anything, "VARCHAR(12) COLLATE utf8mb4_0900_as_cs"),
		textual("VARCHAR(12) COLLATE utf8mb4_0900_bin", anything, "VARCHAR(12) COLLATE utf8mb4_unicode_ci"),
		textual("VARCHAR(12) CHARACTER SET utf8mb3", bmp, "VARCHAR(12) CHARACTER SET utf8mb4"),
		textual("VARCHAR(12) CHARACTER SET latin1", latin, "VARCHAR(12) CHARACTER SET utf8mb4", "VARCHAR(12) CHARACTER SET latin1 COLLATE latin1_general_cs"),
		textual("CHAR(12) CHARACTER SET latin1 COLLATE latin1_bin", latin, "VARCHAR(12) CHARACTER SET ucs2"),
		textual("VARCHAR(12) CHARACTER SET cp1251", cyrillic, "VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"),
		textual("VARCHAR(12) CHARACTER SET gbk", chinese, "VARCHAR(12) CHARACTER SET utf8mb4"),
		textual("VARCHAR(12) CHARACTER SET ucs2 COLLATE ucs2_bin", bmp),
		textual("CHAR(12) CHARACTER SET utf16", anything, "CHAR(12) CHARACTER SET utf32"),
		textual("VARCHAR(12) CHARACTER SET ascii", ascii, "VARCHAR(12) CHARACTER SET latin1"),
		{def: "BINARY(6)", values: bytes(6)},
		{def: "VARBINARY(12)", values: bytes(12), wider: []string{"VARBINARY(40)"}},
		{def: "DATE", values: edges(dates, "'0000-00-00'", "'2024-00-00'", "'1000-01-01'", "'9999-12-31'")},
		{def: "DATETIME", values: datetimes(0, "'0000-00-00 00:00:00'", "'9999-12-31 23:59:59'"), wider: []string{"DATETIME(6)"}},
		{def: "DATETIME(6)", values: datetimes(6, "'0000-00-00 00:00:00'", "'2024-05-00 00:00:00.000001'")},
		{def: "TIMESTAMP", values: datetimes(0, "'0000-00-00 00:00:00'", "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"), wider: []string{"TIMESTAMP(3)"}},
		{def: "TIMESTAMP(6)", values: datetimes(6, "'1970-01-01 00:00:01.000001'", "'2038-01-19 03:14:07.999999'")},
		{def: "TIME", values: times(0), wider: []string{"TIME(2)"}},
		{def: "TIME(6)", values: times(6)},
		{def: "ENUM('zebra','apple','','mango','7')", values: members("zebra", "apple", "", "mango", "7"), small: true,
			wider: []string{"ENUM('zebra','apple','','mango','7','aardvark')"}},
		{def: "SET('z','a','m')", values: members("", "z", "a", "z,a", "m", "a,m", "z,a,m"), small: true, wider: []string{"SET('z','a','m','b')"}},
	}
}

// waysPerKey is how many of the other ways each type gets.
const waysPerKey = 3

// keyCase is one way in which an ALTER leaves or changes the key.
type keyCase struct {
	name  string
	keys  string // the definitions of keys
	alter string
	to    string // the key column's type afterwards, if it changes
}

// cases are those of one type: the key kept, widened, and some of the other
// ways, which hardly depend on the type, in turn.
func (k keyType) cases(turn int) []keyCase {
	primary := "PRIMARY KEY (k, m)"
	if !k.small {
		primary = "PRIMARY KEY (k)"
	}
	cases := []keyCase{{name: "kept", keys: primary, alter: "ADD COLUMN x INT NOT NULL DEFAULT 7"}}
	others := []keyCase{
		{name: "renamed", keys: primary, alter: fmt.Sprintf("CHANGE k `K 2` %s NOT NULL FIRST", k.def)},
		{name: "unique alone", keys: strings.Replace(primary, "PRIMARY KEY", "UNIQUE KEY u", 1), alter: "MODIFY v TEXT"},
		{name: "descending", keys: "PRIMARY KEY (m, k DESC)", alter: "DROP COLUMN v"},
		{name: "columns in another order", keys: "PRIMARY KEY (k, m)", alter: "DROP PRIMARY KEY, ADD PRIMARY KEY (m, k)"},
		{name: "one column more", keys: primary, alter: "DROP PRIMARY KEY, ADD PRIMARY KEY (k, m, n)"},
		{name: "another unique key for it", keys: primary + ", UNIQUE KEY u (m, k)", alter: "DROP PRIMARY KEY, DROP KEY u, ADD PRIMARY KEY (m, k), MODIFY v TEXT"},
		{name: "a new one over the old", keys: primary, alter: "DROP PRIMARY KEY, ADD UNIQUE KEY (k, m), ADD PRIMARY KEY (n)"},
	}
	for i := range waysPerKey {
		cases = append(cases, others[(waysPerKey*turn+i)%len(others)])
	}
	for _, wider := range k.wider {
		cases = append(cases, keyCase{name: "to " + wider, keys: primary, alter: "MODIFY k " + wider + " NOT NULL", to: wider})
	}
	return cases
}

// Rows are told apart by each type of key, whatever the ALTER does to the key.
func TestKeys(t *testing.T) {
	lab := newLab(t)
	for turn, k := range keyTypes() {
		for _, c := range k.cases(turn) {
			t.Run(k.def+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				lab.use(t, func(w *worker) { w.keys(t, k, c) })
			})
		}
	}
}

const rowsPerKey = 32

func (w *worker) keys(t *testing.T, k keyType, c keyCase) {
	r := random(t)
	types := []string{k.def}
	if c.to != "" {
		types = append(types, c.to)
	}
	tr := trial{
		create: fmt.Sprintf("(n INT NOT NULL, v VARCHAR(20), k %s NOT NULL, m INT NOT NULL, %s)", k.def, c.keys),
		alter:  c.alter,
	}
	values := w.keyValues(t, r, k, types)
	numbers := r.Perm(1000)
	for n := range rowsPerKey {
		tr.rows = append(tr.rows, []string{strconv.Itoa(n + 1), fmt.Sprintf("'value %d'", n), values[n], strconv.Itoa(numbers[n] - 500)})
	}
	w.migrate(t, tr).check(t)
}

// keyValues are values of which no two are the same key under any of the types.
func (w *worker) keyValues(t *testing.T, r *rand.Rand, k keyType, types []string) []string {
	t.Helper()
	var values []string
	if k.small {
		for range rowsPerKey {
			values = append(values, k.values(r))
		}
		return values
	}
	var candidates []string
	for i := range 8 * rowsPerKey {
		candidates = append(candidates, fmt.Sprintf("(%d, %s)", i, k.values(r)))
	}
	columns, keys := "", ""
	for i, def := range types {
		columns += fmt.Sprintf(", k%d %s NOT NULL", i, def)
		keys += fmt.Sprintf(", UNIQUE KEY (k%d)", i)
	}
	conn, err := w.quiet.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	for _, s := range []string{
		"CREATE TEMPORARY TABLE first (i INT PRIMARY KEY, k " + k.def + " NOT NULL)",
		"INSERT IGNORE INTO first VALUES " + strings.Join(candidates, ", "),
		"CREATE TEMPORARY TABLE distinct_keys (i INT PRIMARY KEY" + columns + keys + ")",
		"INSERT IGNORE INTO distinct_keys SELECT i" + strings.Repeat(", k", len(types)) + " FROM first ORDER BY i",
	} {
		_, err := conn.ExecContext(t.Context(), s)
		must(t, err)
	}
	rows, err := conn.QueryContext(t.Context(), "SELECT i FROM distinct_keys ORDER BY i")
	must(t, err)
	for rows.Next() {
		var i int
		must(t, rows.Scan(&i))
		_, value, _ := strings.Cut(strings.TrimSuffix(candidates[i], ")"), ", ")
		values = append(values, value)
	}
	must(t, rows.Err())
	for _, s := range []string{"DROP TEMPORARY TABLE first", "DROP TEMPORARY TABLE distinct_keys"} {
		_, err := conn.ExecContext(t.Context(), s)
		must(t, err)
	}
	if len(values) < rowsPerKey {
		t.Fatalf("%s: %d distinct values, want %d", k.def, len(values), rowsPerKey)
	}
	return values
}
