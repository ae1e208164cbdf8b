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

// killOnceSaved ends the tool when all rows are copied, and progress is saved
// since.
var killOnceSaved = fault.OnceAnswered(step.CopyWrite, fault.UntilAnswered(step.Checkpoint), fault.KillSubject())

func TestResDeleteAbove(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "res-delete-above",
		Bug: "A row that was deleted while the tool was down is back. It had been copied by a chunk that the " +
			"saved progress does not know of yet; the resumed run took its delete for one of a row that the " +
			"copy has still to come to, and dropped it.",
		Reports: []string{"spirit 708", "spirit 704"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.KillSubject()),
		},
		Then: []harness.Attempt{{Resume: true, Faults: fault.Plan{
			fault.First(fault.Write(workload.Delete(table, "2"))),
		}}},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "resume-drops-above-watermark",
	})
}

func TestResAttachLate(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "res-attach-late",
		Bug: "What the application did while the tool was down is lost: the resumed run follows the binlog " +
			"from where it is now, and not from where the first run had come to.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults:    fault.Plan{killOnceSaved},
		Postponed: true,
		Then: []harness.Attempt{{Resume: true, Faults: fault.Plan{
			fault.First(fault.Write(renamed("1", "meanwhile")), fault.Write(workload.Delete(table, "2"))),
		}}},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "resume-attaches-at-end",
	})
}

func TestResAttachLateListener(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "res-attach-late-listener",
		Bug: "What the application did while the tool was down is lost: the resumed run follows the binlog " +
			"from where the first run had come to, and throws away what comes until it begins to listen.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Counted: true, // a tool may be long about that, and begin to listen afterwards

		Faults:    fault.Plan{killOnceSaved},
		Postponed: true,
		Then: []harness.Attempt{{Resume: true, Faults: fault.Plan{
			fault.First(fault.Write(renamed("1", "meanwhile")), fault.Write(workload.Delete(table, "2"))),
			fault.Before(fault.Of(step.Attach).Or(step.Sentinel),
				fault.Write(renamed("3", "as it attaches")), fault.Until("gone by")),
			fault.AtEvent(fault.RowEvent(1).Nth(3), fault.Signal("gone by")),
		}}},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "resume-listens-late",
	})
}

func TestResOtherAlter(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "res-other-alter",
		Bug: "The tool was resumed with another ALTER than it had begun with, said that it was done, and the " +
			"table is what the first ALTER makes of it.",
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults:    fault.Plan{killOnceSaved},
		Postponed: true,
		Then:      []harness.Attempt{{Resume: true, Alter: "MODIFY val BIGINT NOT NULL DEFAULT 7"}},

		Expect:     harness.Refused,
		Guards:     check.SchemaDifference,
		Control:    "resume-ignores-alter",
		Unverified: true,
	})
}

func TestResChangedOriginal(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "res-changed-original",
		Bug: "A column is as short as it was, although somebody made it longer while the tool was down: the " +
			"resumed run put the new table in place, which had been made before that.",
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults:    fault.Plan{killOnceSaved},
		Postponed: true,
		Then: []harness.Attempt{{Resume: true, Faults: fault.Plan{
			fault.First(fault.Alter(fault.Original, "MODIFY name VARCHAR(64) NOT NULL")),
		}}},

		Expect:     harness.Refused,
		Guards:     check.SchemaDifference,
		Control:    "resume-ignores-definition",
		Unverified: true,
	})
}

func TestResOtherHistory(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "res-other-history",
		Bug: "A row is back that was deleted while the tool was down. Then somebody had reset the binary logs, and " +
			"GTIDs began anew. The resumed run found all GTIDs executed that it had noted, which were other " +
			"transactions now, and followed the binlog from there.",
		Cluster: single,
		Table:   table,
		Alter:   widen,
		ByGTID:  true,

		Faults:    fault.Plan{killOnceSaved},
		Postponed: true,
		Then: []harness.Attempt{{Resume: true, Faults: fault.Plan{
			fault.First(fault.Write(workload.Delete(table, "2")), fault.ResetBinlogs()),
		}}},

		Expect:  harness.Refused,
		Guards:  check.ResurrectedRow,
		Control: "resume-trusts-gtids",
	})
}

func TestResTwice(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "res-twice",
		Bug: "A migration that was resumed once is right, and one that was resumed twice has lost a delete: " +
			"the first resumed run noted at once that it had come to the end of the binlog, and died before " +
			"it had applied what came before that.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.KillSubject()),
		},
		Then: []harness.Attempt{
			{Resume: true, Faults: fault.Plan{
				fault.First(fault.Write(workload.Delete(table, "2"))),
				fault.Before(step.Apply, fault.Until("attached"), fault.KillSubject()),
				fault.OnceSent(step.RangeRead, fault.Signal("attached")),
			}},
			{Resume: true},
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "resume-saves-end-of-binlog",
	})
}

func TestResReplayOld(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "res-replay-old",
		Bug: "A row has a value after a resumed migration that it had before its last. The tool had applied both " +
			"changes and saved that it was behind them. Then its stream broke; the new one began at an older place, " +
			"and when the first of the two changes had come again, and the second not yet, the tool died. The resumed " +
			"run went on behind both.",
		Reports: []string{"spirit 919"},
		Cluster: single,
		Table:   fixtures.Pair(),
		Alter:   widen,
		Chunk:   1,
		Threads: 1,

		Faults: fault.Plan{
			// The chunk of row 1 is done, and saved as done: no run copies it again.
			fault.AfterNth(3, step.CopyWrite,
				fault.WriteAndApply(renamed("1", "older")),
				fault.WriteAndApply(renamed("1", "newer")),
				fault.Signal("both applied"),
				fault.Until("saved"),
				fault.Write(renamed("3", "next")),
				fault.Write(renamed("2", "after it"))),
			// The progress that is saved third was looked up after the second was saved.
			fault.BeforeNth(2, step.Checkpoint, fault.Until("both applied")),
			fault.OnceAnswered(fault.Of(step.Checkpoint).Nth(3), fault.Signal("saved")),
			fault.CutStream(fault.RowEvent(1).Nth(3)),
			fault.OnceAnswered(fault.Of(step.Apply).Nth(3), fault.Signal("one more applied")),
			fault.AtEvent(fault.RowEvent(1).Nth(5), fault.Until("one more applied"), fault.KillSubject()),
		},
		Then: []harness.Attempt{{Resume: true}},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "reconnect-replays-images",
	})
}
