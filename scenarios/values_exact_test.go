package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/topology"
)

func TestValJSON(t *testing.T) {
	table := fixtures.Special("documents", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-json",
		Bug: "Queries into JSON documents find other types than before: a DECIMAL is a DOUBLE, a DATETIME and a BLOB " +
			"are strings. The tool read the documents as text and wrote the text.",
		Reports: []string{"gh-ost 813", "spirit 842", "go-mysql 1147", "ghostferry 368"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "documents-as-text",
	})
}

func TestValNumbers(t *testing.T) {
	table := fixtures.Special("amounts", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-numbers",
		Bug:     "The last digits of a DECIMAL(65,30) are others in rows that changed during the migration: they went through a DOUBLE.",
		Reports: []string{"gh-ost 681"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "decimals-as-doubles",
	})
}

func TestValNumbersFloat(t *testing.T) {
	table := fixtures.Special("amounts", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-numbers-float",
		Bug:     "A FLOAT is another number after the migration: the server writes it with six digits, and the tool wrote those.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "floats-as-text",
	})
}

func TestValNumbersUnsigned(t *testing.T) {
	table := fixtures.Special("amounts", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-numbers-unsigned",
		Bug: "BIGINT UNSIGNED and BIT(64) values from 9223372036854775808 on are another number in rows that changed " +
			"during the migration: the tool held them as signed integers.",
		Reports: []string{"gh-ost 157", "gh-ost 353", "spirit 885", "go-mysql 1119"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "integers-cut-at-sign",
	})
}

// zeroDates is a server on which a table with zero dates can be altered.
var zeroDates = topology.Spec{Replicas: 1, SemiSync: true, GTID: true, Options: []string{"--sql-mode=STRICT_ALL_TABLES"}}

func TestValTime(t *testing.T) {
	table := fixtures.Special("clocks", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-time",
		Bug:     "Times have lost the fractions of their seconds in rows that changed during the migration.",
		Reports: []string{"gh-ost 300", "go-mysql 677"},
		Cluster: zeroDates,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "fractions-cut",
	})
}

func TestValTimeYear(t *testing.T) {
	table := fixtures.Special("clocks", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-time-year",
		Bug:     "The YEAR 0000 is 2000 after the migration: the tool wrote it as the text '0', which the server reads as a year of two digits.",
		Cluster: zeroDates,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "year-zero-as-text",
	})
}

func TestValTimeZero(t *testing.T) {
	table := fixtures.Special("clocks", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-time-zero",
		Bug: "Zero dates and zero days are another date after the migration: the tool read them into a type that " +
			"has no such day.",
		Reports: []string{"gh-ost 711"},
		Cluster: zeroDates,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1", "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "zero-dates-normalised",
	})
}

func TestValExotic(t *testing.T) {
	table := fixtures.Special("exotics", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-exotic",
		Bug: "An invisible column is NULL in every row after the migration: the tool asked for all columns by " +
			"SELECT *, which leaves such columns out. Points, vectors and large BLOBs are in the table too.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "invisible-columns-left-out",
	})
}

func TestValExoticVector(t *testing.T) {
	table := fixtures.Special("exotics", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-exotic-vector",
		Bug:     "The numbers of a VECTOR are others after the migration: the tool read it as text, which has fewer digits.",
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "1"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "vectors-as-text",
	})
}

func TestValExoticInvisibleKey(t *testing.T) {
	table := fixtures.Special("keyless", "my_row_id")
	suite.Run(t, harness.Scenario{
		ID: "val-exotic-invisible-key",
		Bug: "A row has its old value, and a second one, with the new value, stands beside it. The server had given the " +
			"table an invisible primary key; the tool asked for all columns by SELECT *, which leaves that out, and the " +
			"changed row got a number of its own.",
		Cluster: topology.Spec{
			Replicas: 1, SemiSync: true, GTID: true,
			Options: []string{"--sql-generate-invisible-primary-key=ON", "--show-gipk-in-create-table-and-information-schema=ON"},
		},
		Table: table,
		Alter: widen,

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "invisible-columns-left-out",
	})
}
