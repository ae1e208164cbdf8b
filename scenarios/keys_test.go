package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// copiedThen changes rows once the first of them are in the shadow, so that
// they go there by the copy and by the stream.
func copiedThen(writes ...workload.Write) fault.Plan {
	return fault.Plan{fault.After(step.CopyWrite, fault.Write(writes...))}
}

// touched gives rows a new value in their column val, which all tables for odd
// keys and values have, once the first of them have been copied: so the rest
// of these rows goes over by the stream too.
func touched(table fixtures.Table, keys ...history.Key) fault.Plan {
	var writes []workload.Write
	for _, key := range keys {
		writes = append(writes, workload.Update(table, key, val("-1")))
	}
	return copiedThen(writes...)
}

// val is a value for that column.
func val(n string) history.Row { return history.Row{"val": history.Text(n)} }

func TestKeyBit(t *testing.T) {
	table := fixtures.Special("bits", "id", "b")
	suite.Run(t, harness.Scenario{
		ID: "key-bit",
		Bug: "A row is gone whose primary key ends in a BIT that is set. The tool took the bit at the end of a " +
			"chunk for a text, and looked for the next rows above that.",
		Reports: []string{"gh-ost 1480"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Chunk:   2,

		Faults: touched(table, "1,1"),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "bits-as-text",
	})
}

func TestKeyEnum(t *testing.T) {
	table := fixtures.Special("labels", "e", "n")
	suite.Run(t, harness.Scenario{
		ID: "key-enum",
		Bug: "Most rows are gone from a table with an ENUM in its primary key whose members are not in the order " +
			"of the alphabet. The server keeps the rows by the members' numbers; the tool compared the members' names.",
		Reports: []string{"gh-ost 273", "Launchpad 1613915"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Chunk:   10,

		Faults: touched(table, "zebra,3"),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "enum-ordered-by-name",
	})
}

func TestKeyDecimal(t *testing.T) {
	table := fixtures.Special("decimals", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-decimal",
		Bug: "Rows are gone from a table whose key is a DECIMAL of 30 digits. The tool compared keys as floating-point " +
			"numbers, for which neighbours in the 25th digit are one number, so the next chunk began behind all of them.",
		Reports: []string{"gh-ost 1119"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,
		Chunk:   10,

		Faults: touched(table, "100000000000000000000000100000"),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "decimal-keys-as-doubles",
	})
}

func TestKeyBinaryPadding(t *testing.T) {
	table := fixtures.Special("binaries", "k")
	suite.Run(t, harness.Scenario{
		ID: "key-binary-padding",
		Bug: "Updates and deletes of some rows are lost: those with a BINARY key that ends in zero bytes. The binlog " +
			"leaves such bytes out, and the tool looked for the shorter key, which no row has.",
		Reports: []string{"gh-ost 654", "gh-ost 909", "spirit 945", "ghostferry 157", "DM 10672"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: copiedThen(
			workload.Update(table, "0x61000000", val("11")),
			workload.Delete(table, "0x61620000"),
			workload.Update(table, "0x00000000", val("31"))),

		Expect:  harness.Completed,
		Guards:  check.StaleRow,
		Control: "binary-keys-unpadded",
	})
}

func TestKeyZero(t *testing.T) {
	table := fixtures.Special("zeros", "id")
	suite.Run(t, harness.Scenario{
		ID: "key-zero",
		Bug: "The row with id 0 has another id after the migration. The column is AUTO_INCREMENT, and the session " +
			"that wrote the row let the server number it.",
		Reports: []string{"gh-ost 722"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "0", "-1"),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "zero-is-numbered",
	})
}

func TestKeyZeroNegative(t *testing.T) {
	table := fixtures.Special("zeros", "id")
	suite.Run(t, harness.Scenario{
		ID:      "key-zero-negative",
		Bug:     "Rows with negative ids are gone: the tool began to copy at 0, below which it expected no row.",
		Reports: []string{"gh-ost 722"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "-1"),

		Expect:  harness.Completed,
		Guards:  check.LostRow,
		Control: "copy-starts-at-zero",
	})
}
