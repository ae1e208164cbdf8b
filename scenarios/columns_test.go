package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/workload"
)

func TestColRename(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID: "col-rename",
		Bug: "A column is NULL in every row after it was renamed by RENAME COLUMN: the tool did not read that clause, " +
			"and took the column for a new one.",
		Reports: []string{"gh-ost 1034"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "RENAME COLUMN a TO c, " + widen,
		Renames: map[string]string{"a": "c"},

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "renames-not-read",
		// A verify pass goes by the same reading of the ALTER.
		Unverified: true,
	})
}

func TestColRenameChange(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID:      "col-rename-change",
		Bug:     "A column is NULL in every row after it was renamed by CHANGE: the tool took it for a new one.",
		Reports: []string{"Launchpad 1068562"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "CHANGE a c VARCHAR(30) NULL, " + widen,
		Renames: map[string]string{"a": "c"},

		Faults: copiedThen(workload.Update(table, "2", history.Row{"a": history.Text("changed")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "renames-not-read",
		// A verify pass goes by the same reading of the ALTER.
		Unverified: true,
	})
}

func TestColRenameReadd(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID: "col-rename-readd",
		Bug: "A column was renamed, and in the same ALTER a new one got its old name. The values are in the new column, " +
			"and the renamed one is empty: the tool matched columns by their names.",
		Reports: []string{"gh-ost 1273"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "RENAME COLUMN a TO c, ADD COLUMN a VARCHAR(20) NULL, " + widen,
		Renames: map[string]string{"a": "c"},

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "columns-by-name",
		// A verify pass goes by the same reading of the ALTER.
		Unverified: true,
	})
}

func TestColReorder(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID:      "col-reorder",
		Bug:     "Two columns have each other's values after an ALTER that put one before the other: the tool matched columns by their places.",
		Reports: []string{"gh-ost 239"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY b VARCHAR(20) NULL AFTER id, " + widen,

		Faults: copiedThen(workload.Update(table, "2", history.Row{"b": history.Text("changed")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "columns-by-place",
	})
}

func TestColReorderAdd(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID: "col-reorder-add",
		Bug: "Values are in the wrong columns after an ALTER that added a column in the middle: the tool matched " +
			"columns by their places.",
		Cluster: semiSync,
		Table:   table,
		Alter:   "ADD COLUMN m VARCHAR(20) NULL AFTER id, " + widen,

		Faults: copiedThen(workload.Update(table, "2", history.Row{"b": history.Text("changed")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "columns-by-place",
	})
}

func TestColReorderReadd(t *testing.T) {
	table := fixtures.Special("people", "id")
	suite.Run(t, harness.Scenario{
		ID: "col-reorder-readd",
		Bug: "A column was dropped and a new one of the same name added. The old values, which should be gone, are in " +
			"the new one: the tool matched columns by their names.",
		Reports: []string{"gh-ost 384"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "DROP COLUMN a, ADD COLUMN a VARCHAR(20) NULL DEFAULT 'new', " + widen,
		// The old column has no successor.
		Renames: map[string]string{"a": "no column"},

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "columns-by-name",
		// A verify pass goes by the same reading of the ALTER.
		Unverified: true,
	})
}

func TestColAutoInc(t *testing.T) {
	table := fixtures.Special("numbered", "id")
	suite.Run(t, harness.Scenario{
		ID: "col-autoinc",
		Bug: "Ids are given a second time after the migration. The last rows of the table had been deleted; the new " +
			"table went on counting behind its highest row, and the numbers of the deleted ones, which others " +
			"still hold, came again.",
		Reports: []string{"gh-ost 381"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "2"),

		Expect:     harness.Completed,
		Guards:     check.SchemaDifference,
		Control:    "counter-starts-anew",
		Unverified: true, // a verify pass compares rows
	})
}
