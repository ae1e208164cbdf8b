package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestCopyUniqueHandover(t *testing.T) {
	table := fixtures.Handles(30)
	suite.Run(t, harness.Scenario{
		ID: "copy-unique-handover",
		Bug: "A row is gone that was there all the time. It had taken over a unique value from another row, in " +
			"one transaction. The other row was in the new table already, with the old value, for the binlog " +
			"was read late; so the copy met a duplicate, took it for its own row and left it out.",
		Reports: []string{"spirit 847", "gh-ost 485"},
		Table:   table,
		Alter:   widen,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.BeforeNth(2, step.CopyWrite, fault.WriteAndHold(
				workload.Update(table, "1", history.Row{"handle": history.Text("free")}),
				workload.Update(table, "25", history.Row{"handle": history.Text("h1")})).As("lag")),
			fault.OnceAnswered(fault.Of(step.CopyWrite).Nth(3), fault.Until("lag"), fault.End("lag")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "copy-ignores-duplicates",
	})
}

func TestCopyUniqueHandoverNew(t *testing.T) {
	table := fixtures.Handles(30)
	suite.Run(t, harness.Scenario{
		ID: "copy-unique-handover-new",
		Bug: "A row that was inserted during the migration is gone. It held a unique value for a moment, which " +
			"then went over to another row. The copy brought that one with the value first, for the binlog was " +
			"read late; then the insert met a duplicate and was left out, and so was the update behind it.",
		Reports: []string{"gh-ost 1633"},
		Table:   table,
		Alter:   widen,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			// Below all other keys, where the copy has been.
			fault.BeforeNth(2, step.CopyWrite,
				fault.WriteAndHold(workload.Insert(table, history.Row{
					"id": history.Text("-5"), "handle": history.Text("x1"), "val": history.Text("1")})).As("lag"),
				fault.Write(workload.Update(table, "-5", history.Row{"handle": history.Text("x2")})),
				fault.Write(workload.Update(table, "25", history.Row{"handle": history.Text("x1")}))),
			fault.OnceAnswered(fault.Of(step.CopyWrite).Nth(3), fault.Until("lag"), fault.End("lag")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "insert-ignores-duplicates",
	})
}

func TestCopyUniqueSwap(t *testing.T) {
	table := fixtures.Handles(6)
	suite.Run(t, harness.Scenario{
		ID: "copy-unique-swap",
		Bug: "One of two rows is gone that swapped their unique values in one transaction during the migration. " +
			"The tool brought them over one by one; the first met the value that the other still had there, and " +
			"was left out.",
		Reports: []string{"spirit 847", "spirit 851"},
		Table:   table,
		Alter:   widen,
		Room:    above,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.WriteAndApply(
				workload.Update(table, "1", history.Row{"handle": history.Text("between")}),
				workload.Update(table, "2", history.Row{"handle": history.Text("h1")}),
				workload.Update(table, "1", history.Row{"handle": history.Text("h2")}))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "swap-ignores-duplicates",
	})
}
