package scenarios_test

import (
	"testing"
	"time"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

func TestCutLateWrite(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-late-write",
		Bug: "The row count matches and one update is gone. It was committed after the tool had drained the " +
			"binlog and before it locked writers out; a cut-over that does not drain again under the lock " +
			"swaps in a table that never saw it.",
		Reports: []string{"spirit 156", "spirit 162", "Vitess 8390"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Lock, fault.Write(renamed("1", "late"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-skips-final-drain",
		Unverified: true,
	})
}

func TestCutLateWriteInsertDelete(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "cut-late-write-insert-delete",
		Bug: "A row that was inserted a moment before the cut-over is gone, and one that was deleted then " +
			"is back.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Lock,
				fault.Write(workload.Insert(table, row(1000, "late", 1))),
				fault.Write(workload.Delete(table, "2"))),
		},

		Expect:     harness.Completed,
		Guards:     check.LostRow,
		Control:    "cutover-skips-final-drain",
		Unverified: true,
	})
}

func TestCutGapUnlock(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-gap-unlock",
		Bug: "An update that was acknowledged is not in the new table. The tool drained under its lock, gave " +
			"the lock back, and only then renamed: the update came in between and went into the old table.",
		Reports: []string{"gh-ost 887", "gh-ost 26", "spirit 162"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Rename, fault.WriteOrWait(renamed("1", "between"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-unlocks-before-rename",
		Unverified: true,
	})
}

func TestCutGapLockSession(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-gap-lock-session",
		Bug: "An update is gone although the tool had locked the table. The session that held the lock was " +
			"killed, so writers went on; its other session, which renamed, did not notice.",
		Reports: []string{"gh-ost 887", "gh-ost 26"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Rename,
				fault.Kill(fault.Sent(step.Lock)),
				fault.WriteOrWait(renamed("1", "unlocked"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-renames-in-second-session",
		Unverified: true,
	})
}

func TestCutReplyLost(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-reply-lost",
		Bug: "The tool says that the migration failed and that the table is as before, but the new table is " +
			"live: the server had renamed, and only its reply was lost.",
		Reports: []string{"spirit 955"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.CutAfter(step.Rename),
		},

		Expect:     harness.Completed,
		Guards:     check.UnexpectedOutcome,
		Control:    "cutover-lost-reply-is-failure",
		Unverified: true,
	})
}

func TestCutRequestLost(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-request-lost",
		Bug: "The tool says that the migration is done, and the table is as it was: the connection broke before " +
			"the server had got the RENAME, and the tool took that for a reply that was lost on its way back.",
		Reports: []string{"spirit 955"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.CutBefore(step.Rename),
		},

		Expect:     harness.Completed,
		Guards:     check.SchemaDifference,
		Control:    "cutover-lost-connection-is-success",
		Unverified: true,
	})
}

func TestCutTimeoutRetry(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-timeout-retry",
		Bug: "The first try of the cut-over failed and the second succeeded, and an update from between them " +
			"is gone: what was drained in the first try was taken for drained in the second.",
		Reports: []string{"gh-ost 1255", "gh-ost 1637"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Rename, fault.Kill(fault.Sending(step.Rename))),
			fault.BeforeNth(2, step.Lock, fault.Write(renamed("1", "second try"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-drains-once",
		Unverified: true,
	})
}

func TestCutRetryLastChanges(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-retry-last-changes",
		Bug: "Two updates were made around a cut-over that was tried twice, and the first of them is gone. It had " +
			"come through the stream in the first try, which failed before it was written to the new table; the " +
			"second try drained what had come since.",
		Reports: []string{"gh-ost 1637"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Lock, fault.Write(renamed("1", "first try"))),
			fault.Before(step.Apply, fault.Kill(fault.Sending(step.Apply))),
			fault.BeforeNth(2, step.Lock, fault.Write(renamed("2", "second try"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "retry-forgets-last-changes",
		Unverified: true,
	})
}

func TestCutDrainSlow(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-timeout-drain",
		Bug: "An update is gone after a cut-over during which the binlog came late. The tool waited for the " +
			"end of the stream for as long as it may keep writers waiting, and then took it for drained.",
		Cluster:  semiSync,
		Table:    fixtures.Pair(),
		Alter:    widen,
		LockWait: time.Second,

		Faults: fault.Plan{
			fault.Before(step.Lock, fault.Write(renamed("1", "slow"))),
			fault.HoldStream(fault.RowEvent(1)).As("slow stream"),
			fault.OnceAnswered(step.Unlock, fault.End("slow stream")),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-drain-gives-up",
		Unverified: true,
	})
}

func TestCutMetadataLock(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-mdl",
		Bug: "An update is gone after a cut-over that found the table in use. A long transaction kept the " +
			"tool from its lock; it gave up waiting, and went on to rename without.",
		Reports:  []string{"gh-ost 887", "PT-1747"},
		Cluster:  semiSync,
		Table:    fixtures.Pair(),
		Alter:    widen,
		LockWait: time.Second,

		Faults: fault.Plan{
			fault.Before(step.Lock, fault.ReadAndStayOpen(fault.Original).As("report")),
			fault.OnceAnswered(step.Lock, fault.End("report")),
			fault.Before(step.Rename, fault.WriteOrWait(renamed("1", "unlocked"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-goes-on-unlocked",
		Unverified: true,
	})
}

func TestCutMetadataLockShadow(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-mdl-shadow",
		Bug: "An update is gone after a cut-over that found the new table in use: somebody had read it in a " +
			"transaction that he left open. The tool gave up waiting for its lock, and went on to rename without.",
		Cluster:  semiSync,
		Table:    fixtures.Pair(),
		Alter:    widen,
		LockWait: time.Second,

		Faults: fault.Plan{
			fault.Before(step.Lock, fault.ReadAndStayOpen(fault.Shadow).As("look")),
			fault.OnceAnswered(step.Lock, fault.End("look")),
			fault.Before(step.Rename, fault.WriteOrWait(renamed("1", "unlocked"))),
		},

		Expect:     harness.Completed,
		Guards:     check.StaleRow,
		Control:    "cutover-goes-on-unlocked",
		Unverified: true,
	})
}

func TestCutMissingTable(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-missing-table",
		Bug: "For a moment in the cut-over the application was told that its table does not exist: the tool " +
			"renamed the old table away, and the new one into its place, in two statements.",
		Reports: []string{"Launchpad 1368244"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			// Long enough for a reader that reads all the time.
			fault.DelayReply(step.Rename, 50*time.Millisecond),
		},

		Expect:     harness.Completed,
		Guards:     check.MissingTable,
		Control:    "cutover-in-two-steps",
		Unverified: true,
	})
}

func TestCutSecondTool(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-second-tool",
		Bug: "Two migrations of the same table ran at once, started by two people. The second took the " +
			"first one's tables for leftovers and removed them under its hands.",
		Reports: []string{"gh-ost 1693", "spirit 927"},
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.CopyWrite, fault.SecondRun().As("second"), fault.End("second")),
		},

		Expect:     harness.Completed,
		Guards:     check.UnexpectedOutcome,
		Control:    "claim-takes-no-lock",
		Unverified: true,
	})
}
