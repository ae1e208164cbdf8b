package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
)

func TestCopyErrorIsEnd(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-error-is-end",
		Bug: "All rows behind the first few are gone. The session in which the tool looked for the next rows to " +
			"copy was killed; it found none, and took that for the end.",
		Reports: []string{"gh-ost 437", "gh-ost 444", "gh-ost 483", "gh-ost 835"},
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.BeforeNth(2, step.CopyNext, fault.Kill(fault.Sending(step.CopyNext))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "copy-error-is-the-end",
	})
}

func TestCopyErrorIsEndReply(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-error-is-end-reply",
		Bug: "All rows behind the first few are gone. The connection broke while the server told the tool where " +
			"the next rows to copy end; the tool had no row, and took that for the end.",
		Reports: []string{"gh-ost 437", "gh-ost 444", "gh-ost 483", "gh-ost 835"},
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{fault.CutAfter(fault.Of(step.CopyNext).Nth(2))},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "copy-error-is-the-end",
	})
}

func TestCopyErrorIsEndWrite(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-error-is-end-write",
		Bug: "Some rows in the middle of a table are gone. The session that copied them was killed before it " +
			"had, and the tool went on with the next.",
		Reports: []string{"gh-ost 437", "gh-ost 444", "gh-ost 483", "gh-ost 835"},
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.BeforeNth(2, step.CopyWrite, fault.Kill(fault.Sending(step.CopyWrite))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "lost-chunk-counts-as-done",
	})
}

func TestCopyErrorIsEndInterrupted(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-error-is-end-interrupted",
		Bug: "Some rows in the middle of a table are gone. The statement that copied them waited for a lock and " +
			"was ended by somebody, and the tool went on with the next.",
		Reports: []string{"gh-ost 437", "gh-ost 444", "gh-ost 483", "gh-ost 835"},
		Table:   fixtures.Accounts(30),
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.Before(step.CopyWrite, fault.LockRows(fault.Original, "14").As("locked")),
			fault.OnceSent(fault.Of(step.CopyWrite).Nth(2),
				fault.WaitBlocked(step.CopyWrite),
				fault.KillQuery(fault.Sending(step.CopyWrite)),
				fault.End("locked")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "lost-chunk-counts-as-done",
	})
}
