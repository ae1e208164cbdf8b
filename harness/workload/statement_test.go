package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// A statement must give the ledger what the write made by Go code gives it.
func TestStatement(t *testing.T) {
	pair := fixtures.Pair()
	two := fixtures.MustCreate("CREATE TABLE two (a INT, b VARCHAR(9), v INT, PRIMARY KEY (a, b))")
	row := func(pairs ...string) history.Row {
		r := history.Row{}
		for i := 0; i < len(pairs); i += 2 {
			r[pairs[i]] = history.Text(pairs[i+1])
		}
		return r
	}
	for sql, want := range map[string][]workload.Write{
		"INSERT INTO pair VALUES (9, 'it''s', -1)": {workload.Insert(pair, row("id", "9", "name", "it's", "val", "-1"))},
		"INSERT INTO pair (name, id, val) VALUES ('a', 8, 1), ('b', 9, 2)": {
			workload.Insert(pair, row("id", "8", "name", "a", "val", "1")), workload.Insert(pair, row("id", "9", "name", "b", "val", "2"))},
		"UPDATE pair SET NAME = 'x', val = 7 WHERE id = 2": {workload.Update(pair, "2", row("name", "x", "val", "7"))},
		"UPDATE pair SET val = val - 5 WHERE `id` = 2":     {workload.Add(pair, "2", "val", -5)},
		"UPDATE pair SET id = 1003 WHERE id = 3":           {workload.Move(pair, "3", "1003")},
		"DELETE FROM pair WHERE id IN (1, 3)":              {workload.Delete(pair, "1"), workload.Delete(pair, "3")},
		"DELETE FROM two WHERE b = 'x,y' AND a = 1":        {workload.Delete(two, "1,x,y")},
		"UPDATE two SET b = 'z' WHERE a = 1 AND b = 'y'":   {{Changes: []history.Change{{Kind: history.Move, Key: "1,y", NewKey: "1,z", Set: row("b", "z")}}}},
	} {
		t.Run("OK/"+sql, func(t *testing.T) {
			table := pair
			if strings.Contains(sql, " two ") {
				table = two
			}
			got, err := workload.Statement(table, sql)
			if err != nil {
				t.Fatal(err)
			}
			var changes []history.Change
			for _, w := range want {
				changes = append(changes, w.Changes...)
			}
			if diff := cmp.Diff(changes, got.Changes, cmp.Transformer("set", func(r history.Row) map[string]*string {
				if len(r) == 0 {
					return nil
				}
				return r
			})); diff != "" || got.SQL != sql {
				t.Errorf("SQL %q, changes (-want +got):\n%s", got.SQL, diff)
			}
		})
	}

	for sql, want := range map[string]string{
		"SELECT 1":                "INSERT, UPDATE or DELETE",
		"UPDATE pair SET":         "syntax error",
		"UPDATE pair SET val = 1": "WHERE id = …",
		"UPDATE pair SET val = 1 WHERE name = 'x'":           "WHERE id = …",
		"UPDATE pair SET val = 1 WHERE id > 1":               "WHERE id = …",
		"UPDATE pair SET val = 1 WHERE id = 1 OR id=2":       "WHERE id = …",
		"UPDATE pair SET val = 1 WHERE id = 1 AND id=2":      "WHERE id = …",
		"UPDATE pair SET val = val * 2 WHERE id = 1":         "val = val + n",
		"UPDATE pair SET name = name + 1 WHERE id = 1":       "name",
		"UPDATE pair SET val = val + 1 WHERE id = 1 LIMIT 1": "LIMIT",
		"UPDATE pair SET id = id + 1 WHERE id = 1":           "key column id",
		"UPDATE pair SET id = 9 WHERE id IN (1, 2)":          "one key",
		"UPDATE pair SET val = NOW() WHERE id = 1":           "isn't known",
		"UPDATE pair p SET val = 1 WHERE id = 1":             "plain name pair",
		"UPDATE pair, two SET val = 1 WHERE id = 1":          "more than table pair",
		"DELETE FROM pair":                                   "WHERE id = …",
		"DELETE FROM pair WHERE id = NULL":                   "NOT NULL",
		"INSERT INTO pair (name) VALUES ('x')":               "key column id",
		"INSERT IGNORE INTO pair VALUES (1, 'a', 1)":         "IGNORE",
	} {
		t.Run("Err/"+sql, func(t *testing.T) {
			if _, err := workload.Statement(pair, sql); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
}
