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

func TestBinBigTransaction(t *testing.T) {
	table := fixtures.Sbtest(6_000)
	suite.Run(t, harness.Scenario{
		ID: "bin-big-transaction",
		Bug: "Some of what one huge transaction changed is gone. It changed more rows than the tool keeps waiting, " +
			"and more bytes than max_allowed_packet lets into one statement; a change that had to wait for room was forgotten.",
		Reports: []string{"spirit 1036", "spirit 1040"},
		Cluster: topology.Spec{GTID: true, Options: []string{"--max-allowed-packet=1M"}},
		Table:   table,
		Alter:   "MODIFY k BIGINT NOT NULL DEFAULT 0",

		Faults: copiedThen(workload.UpdateAll(table, history.Row{"k": history.Text("-7")})),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "full-queue-forgets",
	})
}

func TestBinNeighbourNoise(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-neighbour-noise",
		Bug: "A change is gone that stood in one transaction with a change of another table. That one's row was so " +
			"big that the tool gave up decoding it, and with it all that followed in the transaction.",
		Reports: []string{"gh-ost 976", "gh-ost 428"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite,
				fault.Exec("CREATE TABLE neighbour (id INT PRIMARY KEY, doc LONGTEXT, facts JSON, place GEOMETRY, v VECTOR(3)) COMMENT 'unlike pair'"),
				fault.Write(
					workload.Write{SQL: `INSERT INTO neighbour VALUES (1, REPEAT('pair', 1000000), '{"a": [1, 2.5, "b"]}', ST_GeomFromText('POINT(1 2)'), STRING_TO_VECTOR('[1,2,3]'))`},
					renamed("2", "renamed")),
				fault.Exec("ALTER TABLE neighbour ADD COLUMN pair INT NULL COMMENT 'ALTER TABLE pair DROP COLUMN val'"),
				fault.Exec("CREATE VIEW pairs AS SELECT id FROM pair"),
				fault.Exec("DROP VIEW pairs"),
				fault.Exec("DROP TABLE neighbour")),
		},

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "huge-event-ends-transaction",
	})
}
