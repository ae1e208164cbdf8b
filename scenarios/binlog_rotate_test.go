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

func TestBinRotate(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-rotate",
		Bug: "The changes of a long transaction are gone. While it was open, somebody flushed the binary logs, so " +
			"its events stood at the beginning of a new file. The tool took each event that ends before the place " +
			"where it had begun to read for one that it had seen, and looked at the offsets alone.",
		Reports: []string{"go-mysql 396", "go-mysql 752"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite,
				fault.OpenTransaction("long", renamed("1", "renamed"), renamed("3", "renamed")),
				fault.FlushBinlogs(),
				fault.Commit("long")),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "positions-without-files",
	})
}

func TestBinRotateAttach(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-rotate-attach",
		Bug: "A change is gone on a server whose binary logs were flushed between the moment at which the tool " +
			"read the position and the moment at which it asked for the events behind it.",
		Reports: []string{"go-mysql 396", "go-mysql 752"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			// The old file must be longer than the new one will be.
			fault.First(
				fault.Exec("CREATE TABLE filler (t TEXT)"),
				fault.Exec("INSERT INTO filler VALUES (REPEAT('x', 20000))"),
				fault.Exec("DROP TABLE filler")),
			fault.After(step.Attach, fault.FlushBinlogs()),
			fault.After(step.CopyWrite, fault.Write(renamed("2", "renamed"))),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "positions-without-files",
	})
}

func TestBinRotateDigits(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-rotate-digits",
		Bug: "Changes are gone that were made after the binary log went from file 999999 to file 1000000. The tool " +
			"compared the names of the files as texts, and binlog.1000000 sorts before binlog.999999.",
		Reports: []string{"gh-ost 1604", "go-mysql 547"},
		Cluster: topology.Spec{GTID: true, FirstBinlog: 999_999},
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite,
				fault.FlushBinlogs(),
				fault.Write(renamed("2", "renamed"))),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "files-compared-as-texts",
	})
}
