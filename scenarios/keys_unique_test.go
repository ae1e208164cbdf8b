package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// member is a row of the table members.
func member(id, email string) history.Row {
	return history.Row{"id": history.Text(id), "email": history.Text(email), "val": history.Text("1")}
}

func TestKeyAddedUnique(t *testing.T) {
	table := fixtures.Special("members", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-added-unique",
		Bug: "A row is gone after an ALTER that adds a unique key. Two rows had one value under it; instead of " +
			"stopping, as the server's own ALTER does, the tool left one of them out and said that all went well.",
		Reports: []string{"gh-ost 167", "gh-ost 477", "gh-ost 1500", "PT-116", "LHM 115"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "ADD UNIQUE KEY email (email), " + widen,

		Faults: fault.Plan{fault.First(fault.Write(workload.Insert(table, member("4", "anna@example.org"))))},

		Expect:  harness.Aborted,
		Guards:  check.LostRow,
		Control: "duplicates-ignored",
	})
}

func TestKeyAddedUniqueStream(t *testing.T) {
	table := fixtures.Special("members", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-added-unique-stream",
		Bug: "A row is gone after an ALTER that adds a unique key: a row with the same value was inserted while the " +
			"tool copied, and the tool left it out.",
		Reports: []string{"gh-ost 485", "gh-ost 1636"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "ADD UNIQUE KEY email (email), " + widen,

		Faults: copiedThen(workload.Insert(table, member("4", "bert@example.org"))),

		Expect:  harness.Aborted,
		Guards:  check.LostRow,
		Control: "duplicates-ignored",
	})
}

func TestKeyAddedUniqueCollation(t *testing.T) {
	table := fixtures.Special("members", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-added-unique-collation",
		Bug: "A row is gone after an ALTER that adds a unique key and gives its column another collation, under which " +
			"two values are one that were two before: the row that was written later took the place of the other.",
		Reports: []string{"gh-ost 825", "gh-ost 1526"},
		Cluster: semiSync,
		Table:   table,
		Alter: "MODIFY email VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci NOT NULL, " +
			"ADD UNIQUE KEY email (email), " + widen,

		Faults: copiedThen(workload.Insert(table, member("4", "ANNA@example.org"))),

		Expect:  harness.Aborted,
		Guards:  check.LostRow,
		Control: "duplicates-replaced",
	})
}
