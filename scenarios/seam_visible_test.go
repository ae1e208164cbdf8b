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

// deliveredUnacked is a write whose event the tool gets while the write waits
// for its ACK and no reader sees it. The ACK comes once the tool has dealt
// with the event, or waits.
func deliveredUnacked(write workload.Write) fault.Plan {
	return fault.Plan{
		fault.After(step.CopyWrite,
			fault.StopIO(),
			fault.WriteUnacked(write)),
		fault.OnceAnswered(step.CopyWrite,
			fault.WaitApplyOrBlocked(write),
			fault.StartIO()),
	}
}

func TestSeamDeliverBeforeVisible(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-deliver-before-visible",
		Bug: "A row has an old value after the migration. The binlog told the tool of its update while the " +
			"update waited for its semi-sync ACK, and the tool read the row to see what it had become: it " +
			"found what it had been. No other event came.",
		Reports: []string{"spirit 746", "spirit 820", "spirit 1080"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: deliveredUnacked(renamed("2", "changed")),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "apply-reads-without-locks",
	})
}

func TestSeamDeliverBeforeVisibleInsert(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-deliver-before-visible-insert",
		Bug: "A row is gone that was inserted during the migration. The binlog told the tool of it while the " +
			"insert waited for its semi-sync ACK, and the tool read the row: it found none.",
		Reports: []string{"spirit 746", "spirit 820", "spirit 1080"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: deliveredUnacked(workload.Insert(table, row(1000, "new", 1))),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "apply-reads-without-locks",
	})
}

func TestSeamDeliverBeforeVisibleDelete(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-deliver-before-visible-delete",
		Bug: "A row is back that was deleted during the migration. The binlog told the tool of it while the " +
			"delete waited for its semi-sync ACK, and the tool read the row: it was still there.",
		Reports: []string{"spirit 746", "spirit 820", "spirit 1080"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: deliveredUnacked(workload.Delete(table, "2")),

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "apply-reads-without-locks",
	})
}
