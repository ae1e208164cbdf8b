package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/workload"
)

func TestCopyChunkBorders(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-chunk-borders",
		Bug: "The last row of each chunk is gone, on a table of as many rows as a chunk has: the chunk ended " +
			"before it and the next began behind it.",
		Reports: []string{"LHM 126", "gh-ost 1557"},
		Table:   fixtures.Accounts(10),
		Alter:   widenBalance,
		Room:    workload.Room{Rows: 9},
		Chunk:   10,

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "chunk-leaves-out-its-border",
	})
}

func TestCopyChunkBordersOneRow(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID:      "copy-chunk-borders-one-row",
		Bug:     "The only row of a table is gone: it was the border of a chunk, which ended before it.",
		Reports: []string{"LHM 126", "gh-ost 1557"},
		Table:   fixtures.Accounts(1),
		Alter:   widenBalance,
		Room:    workload.Room{Alone: "its one row is the one that nobody may write"},
		Chunk:   1,

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "chunk-leaves-out-its-border",
	})
}

func TestCopyChunkBordersOneMore(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-chunk-borders-one-more",
		Bug: "The last row is gone of a table that has one row more than a chunk: no border was found behind " +
			"it, and the tool took that for the end.",
		Reports: []string{"LHM 126", "gh-ost 1557"},
		Table:   fixtures.Accounts(11),
		Alter:   widenBalance,
		Room:    workload.Room{Rows: 10},
		Chunk:   10,

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "no-border-is-the-end",
	})
}

func TestCopyChunkBordersOneLess(t *testing.T) {
	suite.Run(t, harness.Scenario{
		ID: "copy-chunk-borders-one-less",
		Bug: "A table that has one row less than a chunk is empty afterwards: no border was found, and the " +
			"tool took that for the end.",
		Reports: []string{"LHM 126", "gh-ost 1557"},
		Table:   fixtures.Accounts(9),
		Alter:   widenBalance,
		Room:    workload.Room{Rows: 8},
		Chunk:   10,

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "no-border-is-the-end",
	})
}

func TestCopyChunkBordersGaps(t *testing.T) {
	table := fixtures.Accounts(3)
	suite.Run(t, harness.Scenario{
		ID: "copy-chunk-borders-gaps",
		Bug: "All rows behind a gap in the keys are gone. The tool counts keys, not rows, so a chunk fell into " +
			"the gap and was empty, and the tool took that for the end.",
		Reports: []string{"LHM 126", "gh-ost 1557"},
		Table:   table,
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,

		Faults: fault.Plan{
			fault.First(fault.Write(workload.Move(table, "3", "1000"))),
		},

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "empty-chunk-is-the-end",
	})
}
