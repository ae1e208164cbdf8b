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

func TestTriggerOrder(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "trigger-order",
		Bug: "A row that was inserted and updated as the migration started has the value from before the " +
			"update. The tool had begun to take over inserts and not yet updates; and the copy left the row " +
			"out, for it was there.",
		Reports: []string{"Shopify LHM 181"},
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			// What a tool that works with triggers does first of this step is to
			// create one of them.
			fault.After(step.Attach,
				fault.Write(workload.Insert(table, row(1000, "first", 1))),
				fault.Write(renamed("1000", "second"))),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "inserts-before-updates",
	})
}

func TestLedgerGap(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "ledger-gap",
		Bug: "A row is gone that was inserted during the migration in a slow transaction. Another one, with a " +
			"higher number, was committed first and taken over; then the tool looked for changes with still " +
			"higher numbers only.",
		Reports: []string{"Facebook OSC's list of gaps"},
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite,
				fault.OpenTransaction("slow", workload.Insert(table, row(1000, "slow", 1))),
				fault.WriteAndApply(workload.Insert(table, row(1001, "fast", 1))),
				fault.Commit("slow")),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "replays-above-the-highest",
	})
}
