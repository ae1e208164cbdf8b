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

// again is one more run without more ado, after a row was deleted.
func again(table fixtures.Table) []harness.Attempt {
	return []harness.Attempt{{Faults: fault.Plan{fault.First(fault.Write(workload.Delete(table, "2")))}}}
}

func TestCutKillToolLocked(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "cut-kill-tool-locked",
		Bug: "The tool died in the cut-over and was started again, and a row that had been deleted in " +
			"between is back: the second run went on with what the first had copied, as if it were its own.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.Lock, fault.KillSubject()),
		},
		Then: again(table),

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "rerun-reuses-shadow",
	})
}

func TestCutKillToolDrained(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "cut-kill-tool-drained",
		Bug: "A row that was deleted between two runs is back. The first run died when nothing was left to " +
			"do but to rename: its table was complete then, and is out of date when the next run takes it up.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.Before(step.Rename, fault.KillSubject()),
		},
		Then: again(table),

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "rerun-reuses-shadow",
	})
}

func TestCutKillToolSwapped(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "cut-kill-tool-swapped",
		Bug: "The tool died just after it had renamed. Started again it did not see that the migration was " +
			"done: it threw away the old table, which was to be kept, and migrated the new one once more.",
		Cluster: semiSync,
		Table:   fixtures.Pair(),
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.Rename, fault.KillSubject()),
		},
		Then: []harness.Attempt{{}},

		Expect:     harness.Refused,
		Guards:     check.UnexpectedOutcome,
		Control:    "rerun-drops-old-table",
		Unverified: true,
	})
}
