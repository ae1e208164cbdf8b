package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
)

func TestBinFailover(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "bin-failover",
		Bug: "A change is gone. The source died, and its replica, which had got the change, took its place at the " +
			"same address. The tool's binlog position means nothing on that server, so the tool went on with the " +
			"newest file there, and the change was in the one before.",
		Reports: []string{"spirit 1076", "LHM 112", "LHM 128"},
		Cluster: semiSync,
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			// The chunk of row 2 is done: no later one brings its change.
			fault.AfterNth(3, step.CopyWrite, fault.Write(owned("2", "renamed")), fault.Signal("received"), fault.Until("other server")),
			fault.CutStream(fault.RowEvent(1)),
			fault.BeforeNth(2, step.Dump,
				fault.Until("received"),
				fault.Partition(fault.SubjectPath()).As("no way there"),
				fault.Failover(),
				fault.FlushBinlogs(),
				fault.End("no way there"),
				fault.Signal("other server")),
		},

		Expect:  harness.Aborted,
		Guards:  check.StaleRow,
		Control: "failover-goes-on-in-newest-file",
	})
}

func TestBinFailoverGTID(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "bin-failover-gtid",
		Bug: "A change is gone although the tool followed the binlog by GTIDs, which mean the same on every server. " +
			"It had applied the change; the source died, and its replica had got the change and not what the tool " +
			"had written to the new table. The tool asked that server for what was not in its own set of GTIDs, and " +
			"the change was.",
		Reports: []string{"spirit 1076", "LHM 112", "LHM 128"},
		Cluster: semiSync,
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		ByGTID:  true,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.AfterNth(3, step.CopyWrite,
				fault.Write(owned("2", "renamed")),
				fault.Signal("received"),
				fault.Until("applied"),
				fault.FlushBinlogs(),
				fault.Signal("flushed"),
				fault.Until("other server")),
			fault.Before(step.Apply,
				fault.Until("received"),
				fault.Exec("SET GLOBAL rpl_semi_sync_source_enabled = OFF"),
				fault.StopIO()),
			fault.OnceAnswered(step.Apply, fault.Signal("applied")),
			// The tool has seen the change, and its own write, come and end.
			fault.AtEvent(fault.Rotation(), fault.Until("flushed"), fault.Failover(), fault.Signal("other server")),
		},

		Expect:  harness.Aborted,
		Guards:  check.StaleRow,
		Control: "gtids-go-with-any-server",
	})
}
