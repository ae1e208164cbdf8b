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

func TestCopyPKMove(t *testing.T) {
	table := fixtures.Accounts(30)
	suite.Run(t, harness.Scenario{
		ID: "copy-pk-move",
		Bug: "A row is gone whose key was changed during the migration. It moved from where the copy had not " +
			"come to, to where it had been already: the copy met it nowhere, and the tool took the change " +
			"for one of the old key.",
		Reports: []string{"gh-ost 519", "PT-94", "spirit 417"},
		Table:   table,
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.BeforeNth(2, step.CopyWrite, fault.Write(workload.Move(table, "25", "-2"))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "move-forgets-new-key",
	})
}

func TestCopyPKMoveAhead(t *testing.T) {
	table := fixtures.Accounts(30)
	suite.Run(t, harness.Scenario{
		ID: "copy-pk-move-ahead",
		Bug: "A row is there twice, under the key that it had and under the one that it got during the " +
			"migration. It moved from where the copy had been to where it had not come yet, and the tool took " +
			"the change for one of the new key.",
		Reports: []string{"gh-ost 519", "PT-94", "spirit 417"},
		Table:   table,
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.BeforeNth(2, step.CopyWrite, fault.Write(workload.Move(table, "2", "40"))),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "move-forgets-old-key",
	})
}

func TestCopyPKMoveRetry(t *testing.T) {
	table := fixtures.Accounts(30)
	move := workload.Move(table, "6", "40")
	suite.Run(t, harness.Scenario{
		ID: "copy-pk-move-retry",
		Bug: "A row is there twice, under its old key and its new one. The first attempt to bring the change " +
			"of the key to the new table had to wait too long for a lock and failed; the second wrote the row " +
			"under its new key and did not remove the old one any more.",
		Reports: []string{"gh-ost 1665"},
		Cluster: topology.Spec{GTID: true, Options: []string{"--innodb-lock-wait-timeout=1"}},
		Table:   table,
		Alter:   widenBalance,
		Room:    workload.Room{From: above.From, NoIndex: true},

		Faults: fault.Plan{
			fault.After(step.CopyWrite,
				fault.LockRows(fault.Shadow, "6").As("locked"),
				fault.Write(move)),
			fault.OnceAnswered(step.CopyWrite,
				fault.WaitApplyRefused(move),
				fault.End("locked")),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "retry-forgets-old-key",
	})
}
