package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/step"
)

func TestBinStatementSession(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-statement-session",
		Bug: "The changes of one session are gone. It had binlog_format=STATEMENT, so they stood in the binlog as " +
			"texts that name no row, and the tool looked at row events alone.",
		Reports: []string{"gh-ost 991", "ghostferry 173", "ghostferry 183"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.WriteWith(fault.Settings{"binlog_format": "STATEMENT"}, renamed("2", "renamed"))),
		},

		Expect:  harness.Aborted,
		Guards:  check.StaleRow,
		Control: "statements-pass",
	})
}

func TestBinLogOffSession(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-log-off-session",
		Bug: "The changes of one session are gone. It had sql_log_bin=0, so nothing of them was in the binlog, and " +
			"the pass that should have compared the tables compared their numbers of rows.",
		Reports: []string{"gh-ost 991"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.WriteWith(fault.Settings{"sql_log_bin": "OFF"}, renamed("2", "renamed"))),
		},

		Expect:       harness.Aborted,
		Guards:       check.StaleRow,
		Control:      "verify-counts-rows",
		OnlyVerified: true,
	})
}

func TestBinDDLDuring(t *testing.T) {
	table := fixtures.Pair()
	suite.Run(t, harness.Scenario{
		ID: "bin-ddl-during",
		Bug: "A column is gone, with all that it held. Somebody added it to the table while the migration ran, and " +
			"the tool swapped in a table that was made before.",
		Reports: []string{"Vitess 19365", "OnlineSchemaChange 0f2d592"},
		Cluster: single,
		Table:   table,
		Alter:   widen,

		Faults: fault.Plan{
			fault.After(step.CopyWrite, fault.Alter(fault.Original, "ADD COLUMN extra INT NULL")),
		},

		Expect:     harness.Aborted,
		Guards:     check.SchemaDifference,
		Control:    "ddl-passes",
		Unverified: true, // the pass compares the columns that the tool knows
	})
}
