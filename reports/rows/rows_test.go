package rows_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports/rows"
)

func TestNew(t *testing.T) {
	t.Run("OK/Lost", func(t *testing.T) {
		got := rows.New(histories.LostAfterSync(), "1000")
		if diff := cmp.Diff([]string{"before the run", "last write (operation 1)", "should be", "is"}, got.States); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		var names []string
		for _, c := range got.Columns {
			names = append(names, c.Name)
			if !c.Differ || c.Values[0].Word != "no such row" || c.Values[3].Word != "no such row" {
				t.Errorf("column %s: got %+v, want no such row before and now", c.Name, c)
			}
		}
		if diff := cmp.Diff([]string{"id", "name", "note", "val"}, names); diff != "" {
			t.Errorf("columns (-want +got):\n%s", diff)
		}
		if note := got.Columns[2].Values; note[1].Word != "not written" || note[2].Word != "NULL" {
			t.Errorf("column note: got %+v, want it not written, and NULL", note)
		}
	})

	t.Run("OK/RenamedAndLedgerOnly", func(t *testing.T) {
		r := histories.StaleCopy()
		r.Observed.Comparison.Diffs = nil
		r.Table.Renames = map[string]string{"name": "title"}
		r.Observed.Final["2"] = history.Row{"id": history.Text("2"), "title": history.Text("two"), "val": history.Text("20")}
		got := rows.New(r, "2")
		if diff := cmp.Diff([]string{"before the run", "last write (operation 1)", "is"}, got.States); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		title := got.Columns[1]
		if title.Name != "title" || title.Values[0].Text != "two" || title.Values[1].Text != "changed" || title.Values[2].Text != "two" {
			t.Errorf("renamed column: got %+v, want title: two, changed, two", title)
		}
	})

	// Of a large table only the rows that an operation touches are recorded.
	t.Run("OK/NotRecorded", func(t *testing.T) {
		r := histories.StaleCopy() // it touches row 2
		r.Table.Rows = 20_000
		r.Ops = append(r.Ops, history.Op{ID: 2, Kind: "read", Saw: map[history.Key]history.Row{"8": nil}})
		for _, key := range []history.Key{"7", "8"} {
			r.Observed.Comparison.Diffs = append(r.Observed.Comparison.Diffs, history.RowDiff{Key: key, Want: history.Row{"id": history.Text(string(key))}})
		}
		for key, want := range map[history.Key][]string{"7": {"not recorded", "", "no such row"}, "8": {"no such row", "", "no such row"}} {
			if diff := cmp.Diff(want, words(rows.New(r, key))); diff != "" {
				t.Errorf("row %s (-want +got):\n%s", key, diff)
			}
		}
		r.Observed.Comparison.Diffs = nil
		if diff := cmp.Diff([]string{"", "not recorded"}, words(rows.New(r, "1"))); diff != "" {
			t.Errorf("row that nothing touches (-want +got):\n%s", diff)
		}
		delete(r.Observed.Final, "2")
		if diff := cmp.Diff([]string{"", "not written", "no such row"}, words(rows.New(r, "2"))); diff != "" {
			t.Errorf("row that was touched (-want +got):\n%s", diff)
		}
	})
}

// words is what the first column shows instead of values.
func words(t rows.Table) []string {
	var all []string
	for _, v := range t.Columns[0].Values {
		all = append(all, v.Word)
	}
	return all
}

func differing(want, got *string, hexes ...map[string]string) rows.Column {
	r := &history.Record{Table: history.Table{Key: []string{"id"}}}
	d := history.RowDiff{Key: "1", Want: history.Row{"a": want}, Got: history.Row{"a": got}}
	if len(hexes) == 2 {
		d.WantHex, d.GotHex = hexes[0], hexes[1]
	}
	r.Observed.Comparison.Diffs = []history.RowDiff{d}
	tables, _ := rows.Others(r, "", 10)
	return tables[0].Columns[0]
}

func hexOf(v rows.Value) string {
	s := ""
	for _, p := range v.Bytes {
		if p.Differ {
			s += "[" + p.Hex + "]"
		} else {
			s += p.Hex
		}
	}
	return s
}

func TestDifference(t *testing.T) {
	long := strings.Repeat("a", 5000)
	t.Run("OK/Visible", func(t *testing.T) {
		if c := differing(history.Text("one"), history.Text("two")); !c.Differ || len(c.Values[0].Bytes) != 0 {
			t.Errorf("got %+v, want a difference without bytes", c)
		}
	})
	t.Run("OK/NoBreakSpace", func(t *testing.T) {
		c := differing(history.Text("a b"), history.Text("a\u00a0b"))
		if got := [2]string{hexOf(c.Values[0]), hexOf(c.Values[1])}; got != [2]string{"61[20 62]", "61[c2 a0 62]"} {
			t.Errorf("bytes: got %q", got)
		}
	})
	t.Run("OK/BytesAlone", func(t *testing.T) { // the same text in two character sets
		c := differing(history.Text("ü"), history.Text("ü"), map[string]string{"a": "FC"}, map[string]string{"a": "C3BC"})
		if got := [2]string{hexOf(c.Values[0]), hexOf(c.Values[1])}; !c.Differ || got != [2]string{"[fc]", "[c3 bc]"} {
			t.Errorf("bytes: got %q", got)
		}
	})
	t.Run("OK/TrailingSpace", func(t *testing.T) {
		c := differing(history.Text("a "), history.Text("a"))
		if got := [2]string{hexOf(c.Values[0]), hexOf(c.Values[1])}; got != [2]string{"61[20]", "61[(ends here)]"} {
			t.Errorf("bytes: got %q", got)
		}
	})
	t.Run("OK/Long", func(t *testing.T) {
		c := differing(history.Text(long+"one"), history.Text(long+"two"))
		for i, end := range []string{"one", "two"} {
			v := c.Values[i]
			if !strings.HasSuffix(v.Text, end) || len(v.Text) > 400 || v.Whole != long+end || v.Note != "characters 4926 to 5003 of 5003" {
				t.Errorf("value: got %.20s… (%d bytes), %s, want the end of it", v.Text, len(v.Text), v.Note)
			}
		}
	})
	t.Run("OK/TooLong", func(t *testing.T) {
		c := differing(history.Text(strings.Repeat(long, 30)), nil)
		if v := c.Values[0]; len(v.Whole) != 100_000 || !strings.Contains(v.Note, history.ObservedFile) {
			t.Errorf("value: got %d bytes, %s, want 100000 and where the rest is", len(v.Whole), v.Note)
		}
	})
	t.Run("OK/NullIsNotEmpty", func(t *testing.T) {
		if c := differing(nil, history.Text("")); !c.Differ || c.Values[0].Word != "NULL" || c.Values[1].Word != "empty" {
			t.Errorf("got %+v, want NULL and empty", c)
		}
	})
	t.Run("OK/ControlCharacters", func(t *testing.T) {
		if c := differing(history.Text("a\x00\x1b[31m"), history.Text("a")); c.Values[0].Text != `a\x00\x1b[31m` || hexOf(c.Values[0]) != "61[00 1b 5b 33 31 6d]" {
			t.Errorf("got %+v", c.Values[0])
		}
	})
}

func TestOthers(t *testing.T) {
	r := &history.Record{}
	for _, k := range []history.Key{"1", "2", "3", "4"} {
		r.Observed.Comparison.Diffs = append(r.Observed.Comparison.Diffs, history.RowDiff{Key: k, Want: history.Row{"a": nil}})
	}
	tables, hidden := rows.Others(r, "2", 2)
	if len(tables) != 2 || tables[0].Key != "1" || tables[1].Key != "3" || hidden != 1 {
		t.Errorf("others: got %+v and %d more, want rows 1 and 3 and one more", tables, hidden)
	}
}
