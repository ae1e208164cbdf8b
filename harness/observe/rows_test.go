package observe_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestRows(t *testing.T) {
	db := server(t, topology.Spec{}).Source().DB
	fill(t, db, "one", "id INT PRIMARY KEY, v VARCHAR(9), f FLOAT, b BINARY(2), t TIMESTAMP NULL", "(1, 'é', 1.1, X'0001', '2020-01-01'), (2, NULL, NULL, NULL, NULL), (-3, '', 0, 'ab', NULL)")
	fill(t, db, "two", "a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b)", "(1, 'x', 1), (1, 'y,z', 2), (2, '0x', 3)")
	fill(t, db, "bin", "k BINARY(2) PRIMARY KEY, v INT", "(X'0100', 1), ('ab', 2)")
	fill(t, db, "lab", "e ENUM('z', '5') PRIMARY KEY", "('5')")
	x := history.Text
	for _, c := range []struct {
		table string
		keys  []history.Key
		want  map[history.Key]history.Row
	}{
		{"one", []history.Key{"1", "-3", "99"}, map[history.Key]history.Row{
			"1":  {"id": x("1"), "v": x("é"), "f": x("1.1"), "b": x("0x0001"), "t": x("2020-01-01 00:00:00")},
			"-3": {"id": x("-3"), "v": x(""), "f": x("0"), "b": x("ab"), "t": nil},
		}},
		{"two", []history.Key{"1,y,z", "2,0x", "3,q"}, map[history.Key]history.Row{
			"1,y,z": {"a": x("1"), "b": x("y,z"), "v": x("2")},
			"2,0x":  {"a": x("2"), "b": x("0x"), "v": x("3")},
		}},
		{"bin", []history.Key{"0x0100", "ab"}, map[history.Key]history.Row{
			"0x0100": {"k": x("0x0100"), "v": x("1")},
			"ab":     {"k": x("ab"), "v": x("2")},
		}},
		{"lab", []history.Key{"5", "z"}, map[history.Key]history.Row{"5": {"e": x("5")}}},
		{"one", nil, map[history.Key]history.Row{}},
	} {
		t.Run("OK "+c.table, func(t *testing.T) {
			got, err := observe.Rows(t.Context(), db, table(c.table), c.keys)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
	t.Run("OK by other columns", func(t *testing.T) {
		got, err := observe.RowsBy(t.Context(), db, table("two"), []string{"a"}, []history.Key{"2", "3"})
		want := map[history.Key]history.Row{"2": {"a": x("2"), "b": x("0x"), "v": x("3")}}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("rows (-want +got), %v:\n%s", err, d)
		}
	})
	t.Run("OK all", func(t *testing.T) {
		got, err := observe.All(t.Context(), db, table("one"), 3)
		if err != nil || len(got) != 3 || *got[0]["id"] != "-3" {
			t.Errorf("got %v, %v, want 3 rows from -3 on", got, err)
		}
	})
	t.Run("ErrTooMany", func(t *testing.T) {
		if _, err := observe.All(t.Context(), db, table("one"), 2); err == nil {
			t.Error("got no error for three rows, two allowed")
		}
	})
	t.Run("ErrKey", func(t *testing.T) {
		if _, err := observe.Rows(t.Context(), db, table("two"), []history.Key{"1"}); err == nil {
			t.Error("got no error for half a key")
		}
	})
}
