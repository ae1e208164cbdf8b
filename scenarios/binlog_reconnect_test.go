package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
	"rowproof/harness/topology"
)

// single is one server, for bugs that need no replica.
var single = topology.Spec{GTID: true}

func TestBinReconnect(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-reconnect",
		Bug: "Of three rows that were changed in one transaction, two have their old values after the migration. " +
			"The tool's binlog connection broke in the middle of the transaction, and broke again at the same " +
			"place when it was back. Each time the tool went on behind the last event that it had got, and the row " +
			"event that came first then had no table map before it, so nobody could tell whose rows it held.",
		Reports: []string{"go-mysql 414", "go-mysql 420", "go-mysql 438", "gh-ost 42"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.Write(renamed("1", "renamed"), renamed("2", "renamed"), renamed("3", "renamed"))),
			fault.CutStream(fault.RowEvent(2)),
			fault.CutStream(fault.RowEvent(2).Nth(2)),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "position-inside-transaction",
	})
}

func TestBinReconnectGTID(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-reconnect-gtid",
		Bug: "Rows of one transaction have their old values after a migration that followed the binlog by GTIDs. " +
			"The first time that the connection broke inside the transaction, the tool asked for the whole of it " +
			"again; when that broke too, it took a transaction that had come twice for finished, and asked for " +
			"what follows it.",
		Reports: []string{"go-mysql 414", "go-mysql 420", "go-mysql 438", "gh-ost 42"},
		Cluster: single,
		Table:   table,
		Alter:   widen,
		ByGTID:  true,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.Write(renamed("1", "renamed"), renamed("2", "renamed"), renamed("3", "renamed"))),
			fault.CutStream(fault.RowEvent(2)),
			fault.CutStream(fault.RowEvent(2).Nth(2)),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "gtid-done-when-seen-twice",
	})
}
