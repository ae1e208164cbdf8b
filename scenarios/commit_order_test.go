package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

func TestSeamCommitOrderOff(t *testing.T) {
	table := fixtures.Pair()
	late := workload.Insert(table, row(1000, "late", 1))
	suite.Run(t, harness.Scenario{
		ID: "seam-commit-order-off",
		Bug: "A row is gone on a server with binlog_order_commits=OFF. Its transaction was in the binlog and " +
			"had its ACK when the tool attached, and had not committed yet. The tool wrote a row of its own, " +
			"saw that come back, and took it for proof that everything before it was visible; then it read " +
			"the range to copy, which ended below the row.",
		Cluster: topology.Spec{
			Replicas: 1, SemiSync: true, GTID: true, PerformanceSchema: true,
			Options: []string{"--binlog-order-commits=OFF"},
		},
		Table: table,
		Alter: widen,
		Room:  below,

		Faults: fault.Plan{
			fault.First(
				fault.StopIO(),
				fault.WriteUnacked(late),
				fault.Freeze(fault.Writing(late)).As("frozen"),
				fault.StartIO()),
			fault.OnceReadOrWaiting(step.RangeRead, step.Attach).Then(fault.End("frozen")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-sentinel",
	})
}
