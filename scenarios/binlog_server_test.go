package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
)

func TestBinPurged(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-purged",
		Bug: "A change is gone. The tool's binlog connection broke, and before it was back, the file that it needed " +
			"was purged. The tool went on with the oldest file that was left.",
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.Write(renamed("2", "renamed")), fault.Until("purged")),
			fault.CutStream(fault.RowEvent(1)),
			fault.BeforeNth(2, step.Dump, fault.PurgeBinlogs(), fault.Signal("purged")),
		},

		Expect:  harness.Aborted,
		Guards:  check.StaleRow,
		Control: "purged-goes-on-with-oldest",
	})
}
