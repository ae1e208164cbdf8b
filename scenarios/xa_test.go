package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestSeamXABeforeAttach(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-xa-before-attach",
		Bug: "A row that was inserted in an XA transaction is gone. The transaction was prepared, and so in " +
			"the binlog, before the tool attached; it was committed after the tool had read the range to " +
			"copy, which ended below the row. XA COMMIT brings no row event, so the stream never told of it.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: fault.Plan{
			fault.First(fault.XAPrepare("late", workload.Insert(table, row(1000, "late", 1)))),
			fault.OnceReadOrWaiting(step.RangeRead, step.Attach).Then(fault.XACommit("late")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-sentinel",
	})
}

func TestSeamXARollback(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-xa-rollback",
		Bug: "After the migration one row is there that nobody ever committed, one holds a value that was " +
			"rolled back, and one is missing. The three changes were prepared in an XA transaction while the " +
			"tool ran, so their images were in the binlog, and the tool applied them; then the transaction " +
			"was rolled back, which the binlog does not say row by row.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: fault.Plan{
			fault.After(step.RangeRead, fault.XAPrepare("never",
				workload.Insert(table, row(1000, "phantom", 1)),
				renamed("1", "never"),
				workload.Delete(table, "2"))),
			fault.OnceReadOrWaiting(step.Apply, step.CopyWrite, step.Lock).Then(fault.Until("never"), fault.XARollback("never")),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "apply-trusts-images",
	})
}
