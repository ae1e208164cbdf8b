package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// semiSync is the cluster of the reports: a source that waits for its
// replica's ACK between binlog and commit.
var semiSync = topology.Spec{Replicas: 1, SemiSync: true, GTID: true}

// widen is an ALTER that no server can do in place, so every tool copies.
const widen = "MODIFY val BIGINT NOT NULL DEFAULT 0"

// below and above are room for random writers under the lowest key of a table
// and over the highest one. Where a fault needs a row that lies above the range,
// theirs are below; where it counts chunks, theirs come after those.
var (
	below = workload.Room{From: -1_000_000}
	above = workload.Room{From: 1_000_000}
)

// unackedAtAttach is what the report did: writes wait for their ACKs while
// the tool attaches, and get them once it has read its range, or waits. A tool
// with triggers waits when it attaches: they can't be made while a
// transaction is open.
func unackedAtAttach(writes ...workload.Write) fault.Plan {
	return fault.Plan{
		fault.Before(step.Attach,
			fault.StopIO(),
			fault.WriteUnacked(writes...)),
		fault.OnceReadOrWaiting(step.RangeRead, step.Sentinel, step.Attach).Then(
			fault.StartIO()),
	}
}

func TestSeamAfterSync(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-after-sync",
		Bug: "A row that was committed just before the migration started is gone afterwards. " +
			"It was in the binlog and waited for its semi-sync ACK when the tool attached, so its event lay " +
			"before the attach position; and it was not visible yet when the tool read the range to copy, " +
			"so it lay above that range.",
		Reports: []string{"gh-ost 1030", "gh-ost 1038", "gh-ost 1039", "gh-ost 1141"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: unackedAtAttach(workload.Insert(table, row(1000, "late", 1))),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-attach",
	})
}

func TestSeamAfterSyncEmpty(t *testing.T) {
	table := fixtures.Empty()
	suite.Run(t, harness.Scenario{
		ID: "seam-after-sync-empty",
		Bug: "The first row of an empty table is gone after a migration: it waited for its semi-sync ACK " +
			"while the tool attached and found nothing to copy.",
		Reports: []string{"gh-ost 1030", "gh-ost 1038", "gh-ost 1039", "gh-ost 1141"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    workload.Room{Alone: "its table has no row when the tool reads the range"},

		Faults: unackedAtAttach(workload.Insert(table, row(7, "first", 1))),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-attach",
	})
}

func TestSeamAfterSyncUpdate(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-after-sync-update",
		Bug: "An update, a delete and a change of a key, all waiting for their semi-sync ACKs when the " +
			"migration started, are half lost: the row whose key moved above the range that the tool " +
			"had read is gone.",
		Reports: []string{"gh-ost 1030", "gh-ost 1038", "gh-ost 1039", "gh-ost 1141"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: unackedAtAttach(
			renamed("1", "changed"),
			workload.Delete(table, "2"),
			workload.Move(table, "3", "1003")),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-attach",
	})
}

func TestSeamLostReply(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "seam-lost-reply",
		Bug: "A row is gone after a migration whose client never learned whether it was committed: its " +
			"connection died while the insert waited for its semi-sync ACK. The source committed it a moment " +
			"later, so it was there, and the migration lost it.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Room:    below,

		Faults: fault.Plan{
			fault.Before(step.Attach,
				fault.StopIO(),
				fault.WriteAndLoseReply(workload.Insert(table, row(1000, "orphan", 1)))),
			fault.OnceReadOrWaiting(step.RangeRead, step.Sentinel, step.Attach).Then(
				fault.StartIO()),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-trusts-attach",
	})
}

// A range whose ends are of two moments costs nothing as long as all changes
// since the attach are applied, as the report says. It does where a tool leaves
// the changes to the copy that it holds to be older than the range.
func TestSeamTwoMinMax(t *testing.T) {
	// Of more rows than a tool takes for a single chunk, which has no ends.
	table := fixtures.Accounts(5000)
	account := func(id string) workload.Write {
		return workload.Insert(table, history.Row{"id": history.Text(id), "owner": history.Text("new"), "balance": history.Text("1")})
	}
	suite.Run(t, harness.Scenario{
		ID: "seam-two-min-max",
		Bug: "A row is gone that was inserted as the migration started. It came below the lowest key, which the " +
			"tool had just read, and before the tool read the highest one. The tool left the insert out, for a " +
			"change from before the range was read is there to be copied; and it copied from that lowest key on.",
		Reports: []string{"gh-ost 1164"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widenBalance,
		Room:    above,

		Faults: fault.Plan{
			// To a tool that reads both ends by one statement it comes behind them.
			fault.After(step.RangeRead, fault.Write(account("-1"), account("6000"))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "range-read-in-two-statements",
	})
}
