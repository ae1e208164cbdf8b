package scenarios_test

import (
	"testing"
	"time"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// A big table under a steady write load: the migration must end Valid, and
// the engine's memory must not grow with the table.
func BenchmarkLoad(b *testing.B) {
	suite.Measure(b, harness.Scenario{
		ID:  "load-two-million",
		Bug: "A migration that is right on three rows is wrong, or eats the memory, on two million under load.",
		Cluster: topology.Spec{
			DataMegabytes: 8 << 10, GTID: true,
			Options: []string{"--innodb-buffer-pool-size=2G", "--innodb-redo-log-capacity=1G", "--innodb-log-buffer-size=16M"},
		},
		Table: fixtures.Sbtest(2_000_000),
		Alter: "MODIFY k BIGINT NOT NULL DEFAULT 0",
		Load:  workload.Load{Writers: 4, Rate: 1000},
		Limit: 20 * time.Minute,

		Expect:  harness.Completed,
		Guards:  check.LostWrite,
		Control: "copy-reads-then-writes",
	})
}
