package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
)

func TestBinRestart(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "bin-restart",
		Bug: "A change is gone. The server was restarted while the tool copied, and had not sent the change yet. " +
			"When it was back it had begun a new binlog file, and the tool went on with that one.",
		Cluster: single,
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			// The chunk of row 2 is done: no later one brings its change.
			fault.AfterNth(3, step.CopyWrite, fault.Write(owned("2", "renamed")), fault.Signal("written"), fault.Until("restarted")),
			fault.CutStream(fault.RowEvent(1)),
			fault.BeforeNth(2, step.Dump, fault.Until("written"), fault.RestartServer(fault.Source), fault.Signal("restarted")),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "restart-goes-on-in-new-file",
	})
}

func TestBinRestartApply(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "bin-restart-apply",
		Bug: "A change is gone. The server crashed when the tool was about to apply the change, and came back at once. " +
			"The connection was lost, and the tool took the change for applied.",
		Cluster: single,
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.AfterNth(3, step.CopyWrite,
				fault.Write(owned("2", "renamed")),
				fault.Write(owned("1", "next")),
				fault.Signal("written"),
				fault.Until("restarted")),
			fault.Before(step.Apply, fault.Until("restarted")),
			// The first change has come and ended, and will not come again.
			fault.AtEvent(fault.RowEvent(1).Nth(2),
				fault.Until("written"),
				fault.KillServer(fault.Source).As("crash"),
				fault.End("crash"),
				fault.Signal("restarted")),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "lost-apply-counts-as-done",
	})
}
