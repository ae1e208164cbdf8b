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

// CREATE TABLE ... SELECT was reported beside these; see TestCreateSelectStandsAlone.

func TestBinSavepoint(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-savepoint",
		Bug: "What a transaction changed after its SAVEPOINT is gone. The tool took the statement, which stands as " +
			"text between the row events, for the end of the transaction. Then its connection broke, and it asked " +
			"for the transactions that follow.",
		Reports: []string{"spirit 1042", "spirit 1065", "spirit 1077"},
		Cluster: single,
		Table:   table,
		Alter:   widen,
		ByGTID:  true,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.Write(
				renamed("1", "renamed"),
				workload.Write{SQL: "SAVEPOINT here"},
				renamed("2", "renamed"))),
			fault.CutStream(fault.RowEvent(2)),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "every-statement-ends-transaction",
	})
}

func TestBinSavepointXA(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-savepoint-xa",
		Bug: "What an XA transaction changed is gone. It begins with XA START in the binlog, which the tool took " +
			"for a transaction of its own. Then its connection broke, and it asked for the transactions that follow.",
		Reports: []string{"spirit 1042", "spirit 1065", "spirit 1077"},
		Cluster: single,
		Table:   table,
		Alter:   widen,
		ByGTID:  true,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.XAPrepare("bank", renamed("2", "renamed"))),
			fault.CutStream(fault.RowEvent(1)),
			fault.BeforeNth(2, step.Dump, fault.Until("bank"), fault.XACommit("bank")),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "every-statement-ends-transaction",
	})
}
