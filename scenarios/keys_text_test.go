package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/workload"
)

func TestKeyCICollation(t *testing.T) {
	table := fixtures.Special("spellings", "k")
	suite.Run(t, harness.Scenario{
		ID: "key-ci-collation",
		Bug: "Rows are gone whose keys were written in another way: 'anna' became 'ANNA', 'bert' got a trailing " +
			"space, 'strasse' became 'straße'. For the server each pair is one key; for the tool it was two, of " +
			"which the old one had no row any more, so it deleted the row under it: the new one's.",
		Reports: []string{"DM 9489"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: copiedThen(
			workload.Move(table, "anna", "ANNA"),
			workload.Move(table, "bert", "bert "),
			workload.Move(table, "strasse", "straße")),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "keys-compared-as-bytes",
	})
}

func TestKeyDatetimeFraction(t *testing.T) {
	table := fixtures.Special("moments", "at", "span")
	suite.Run(t, harness.Scenario{
		ID: "key-datetime-fraction",
		Bug: "Updates are lost in a table whose key holds a DATETIME(6): the tool cut the fraction of the second " +
			"off the key and found no row.",
		Reports: []string{"go-mysql 677", "gh-ost 300"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: copiedThen(
			workload.Update(table, "2024-05-06 07:08:09.123456,01:00:00.000000", val("11")),
			workload.Delete(table, "2024-05-06 07:08:09.123457,01:00:00.000000")),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "key-fractions-cut",
	})
}

func TestKeyNegativeTime(t *testing.T) {
	table := fixtures.Special("moments", "at", "span")
	suite.Run(t, harness.Scenario{
		ID: "key-datetime-fraction-negative",
		Bug: "An update is lost in a table whose key holds a TIME that is negative: the tool read the event's key " +
			"without its sign, and brought the row of the positive one up to date.",
		Reports: []string{"go-mysql 677", "gh-ost 300"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "2024-05-06 07:08:10.000000,-10:11:12.500000"),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "key-times-unsigned",
	})
}

func TestKeySubset(t *testing.T) {
	table := fixtures.Special("days", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-subset",
		Bug: "A row is there twice, in its old and its new state. The ALTER adds a column to the primary key; the " +
			"application changed that column, and the tool wrote the row's new state beside the old one, which " +
			"under the new key is another row.",
		Reports: []string{"gh-ost 1452"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "DROP PRIMARY KEY, ADD PRIMARY KEY (id, day), " + widen,

		Faults: copiedThen(workload.Update(table, "2", history.Row{"day": history.Text("2024-02-02")})),

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "loose-key-taken-for-unique",
	})
}

func TestKeyGenerated(t *testing.T) {
	table := fixtures.Special("visits", "id", "day")
	suite.Run(t, harness.Scenario{
		ID: "key-generated",
		Bug: "A row is there twice, in its old and its new state. A column of the primary key is generated; the tool " +
			"left such columns out, took the rest for a unique key, and wrote the row's new state beside the old one.",
		Reports: []string{"gh-ost 1461", "gh-ost 1504"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "ADD COLUMN twice BIGINT AS (val * 2) STORED", // a copy; a new type would make osc doubt the generated key

		Faults: copiedThen(workload.Write{
			SQL: "UPDATE visits SET at = '2024-01-05 10:00:00' WHERE id = 1 AND day = '2024-01-01'",
			Changes: []history.Change{{Kind: history.Move, Key: "1,2024-01-01", NewKey: "1,2024-01-05", Set: history.Row{
				"id": history.Text("1"), "at": history.Text("2024-01-05 10:00:00"), "day": history.Text("2024-01-05"),
			}}},
		}),

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "generated-key-column-left-out",
	})
}
