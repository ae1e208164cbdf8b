package scenarios_test

import (
	"strconv"
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestCopySplitReadWrite(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "copy-split-read-write",
		Bug: "A row has an old value after the migration. The tool read it, the application changed it, " +
			"the change was applied to the shadow where the row was not yet, so it did nothing; then the " +
			"tool wrote what it had read.",
		Reports: []string{"ghostferry 169", "gh-ost 1062"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    above,

		Faults: fault.Plan{
			fault.Before(step.CopyWrite,
				fault.WriteAndApply(workload.Update(table, "2", history.Row{"name": history.Text("bar"), "val": history.Text("2")}))),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "copy-reads-then-writes",
	})
}

func TestCopyResurrect(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "copy-resurrect",
		Bug: "A row that was deleted during the migration is back. The tool read it, the application " +
			"deleted it, the delete was applied to the shadow where the row was not yet; then the tool " +
			"wrote what it had read.",
		Reports: []string{"spirit 961"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    above,

		Faults: fault.Plan{
			fault.Before(step.CopyWrite,
				fault.WriteAndApply(workload.Delete(table, "2"))),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "copy-reads-then-writes",
	})
}

// renamed gives a row of the table pair another name.
func renamed(key history.Key, to string) workload.Write {
	return workload.Update(fixtures.Pair(), key, history.Row{"name": history.Text(to)})
}

// owned gives a row of the table accounts another owner.
func owned(key history.Key, by string) workload.Write {
	return workload.Update(fixtures.Accounts(1), key, history.Row{"owner": history.Text(by)})
}

// row is a row of the table pair.
func row(id int, name string, val int) history.Row {
	return history.Row{
		"id":   history.Text(strconv.Itoa(id)),
		"name": history.Text(name),
		"val":  history.Text(strconv.Itoa(val)),
	}
}
