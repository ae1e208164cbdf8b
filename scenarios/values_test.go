package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// roomy is a row of the table roomy.
func roomy(id, name, n string, maybe *string) history.Row {
	return history.Row{"id": history.Text(id), "name": history.Text(name), "n": history.Text(n), "maybe": maybe}
}

func TestValNarrow(t *testing.T) {
	table := fixtures.Special("roomy", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-narrow",
		Bug: "Names are cut off after an ALTER made the column shorter. The server's own ALTER would have refused to; " +
			"the tool wrote in a session whose sql_mode lets the server cut.",
		Reports: []string{"gh-ost 344", "gh-ost 191"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY name VARCHAR(5) NOT NULL",

		Faults: fault.Plan{fault.First(fault.Write(workload.Insert(table, roomy("4", "alexander", "40", history.Text("yes")))))},

		Expect:  harness.Aborted,
		Guards:  check.AlteredValue,
		Control: "copy-not-strict",
	})
}

func TestValNarrowInteger(t *testing.T) {
	table := fixtures.Special("roomy", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-narrow-integer",
		Bug:     "A number is 127 that was 300 before an ALTER from INT to TINYINT: the row was changed while the tool copied.",
		Reports: []string{"gh-ost 191"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY n TINYINT NOT NULL",

		Faults: copiedThen(workload.Update(table, "2", history.Row{"n": history.Text("300")})),

		Expect:  harness.Aborted,
		Guards:  check.AlteredValue,
		Control: "copy-not-strict",
	})
}

func TestValNarrowNull(t *testing.T) {
	table := fixtures.Special("roomy", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-narrow-null",
		Bug:     "NULLs are empty texts after an ALTER to NOT NULL, which the server's own ALTER would have refused.",
		Reports: []string{"gh-ost 191"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY maybe VARCHAR(20) NOT NULL",

		Faults: fault.Plan{fault.First(fault.Write(workload.Insert(table, roomy("4", "dora", "40", nil))))},

		Expect:  harness.Aborted,
		Guards:  check.AlteredValue,
		Control: "copy-not-strict",
	})
}

func TestValTimestamp(t *testing.T) {
	table := fixtures.Special("zoned", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-timestamp",
		Bug: "Times are hours off in rows that changed during the migration, and right in all others. The ALTER made " +
			"a DATETIME of a TIMESTAMP and the other way round, which the server converts in its own time zone; the " +
			"session that applied changes had another one.",
		Reports: []string{"gh-ost 247", "gh-ost 161", "spirit 1025", "go-mysql 295"},
		Cluster: topology.Spec{Replicas: 1, SemiSync: true, GTID: true, Options: []string{"--default-time-zone=+05:00"}},
		Table:   table,
		// The columns get new names, for the ledger knows their texts in UTC
		// and one of them must change. How is judged against MySQL's own ALTER.
		Alter: "CHANGE stamp happened DATETIME NULL, CHANGE clock due TIMESTAMP NULL, " + widen,
		Zone:  "America/New_York",

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "changes-in-another-zone",
	})
}

func TestValEnumSet(t *testing.T) {
	table := fixtures.Special("choices", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-enum-set",
		Bug: "Rows hold other members of an ENUM and a SET than before, after an ALTER that put the members in another " +
			"order: the tool copied their numbers.",
		Reports: []string{"gh-ost 637", "gh-ost 920", "Vitess 15349"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY e ENUM('blue', 'green', 'red', 'grey') NULL, MODIFY s SET('z', 'y', 'x') NULL, " + widen,

		Faults: copiedThen(workload.Update(table, "1", history.Row{"e": history.Text("green")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "members-by-number",
	})
}

func TestValEnumSetText(t *testing.T) {
	table := fixtures.Special("choices", "id")
	suite.Run(t, harness.Scenario{
		ID:      "val-enum-set-text",
		Bug:     "A column holds '2' where it held 'large', after an ALTER from ENUM to VARCHAR: the tool copied the members' numbers.",
		Reports: []string{"gh-ost 642", "Vitess 8242"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "MODIFY word VARCHAR(10) NULL, " + widen,

		Faults: copiedThen(workload.Update(table, "1", history.Row{"word": history.Text("small")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "members-by-number",
	})
}

func TestValErrorEnum(t *testing.T) {
	table := fixtures.Special("mistakes", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-error-enum",
		Bug: "An ENUM is NULL that held the empty text, which the server keeps for a value that was no member when a " +
			"session without strict mode wrote it. The binlog has it as number 0, which the tool took for no value.",
		Reports: []string{"gh-ost 469"},
		Cluster: semiSync,
		Table:   table,
		Alter:   widen,

		Faults: touched(table, "2"),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "error-member-is-null",
	})
}

func TestValCharset(t *testing.T) {
	table := fixtures.Special("alphabets", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-charset",
		Bug: "Texts are garbled in rows that changed while a table was converted to utf8mb4. The binlog has the bytes " +
			"of several character sets; the tool took all of them for latin1.",
		Reports: []string{"gh-ost 1438", "gh-ost 1568", "DM 7028"},
		Cluster: semiSync,
		Table:   table,
		Alter:   "CONVERT TO CHARACTER SET utf8mb4",

		Faults: copiedThen(workload.Update(table, "1", history.Row{"cyrillic": history.Text("Пока"), "western": history.Text("naïve")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "bytes-taken-for-latin1",
	})
}

func TestValCharsetBack(t *testing.T) {
	table := fixtures.Special("alphabets", "id")
	suite.Run(t, harness.Scenario{
		ID: "val-charset-back",
		Bug: "Texts are garbled in rows that changed while single columns got other character sets, among them one " +
			"from utf8mb4 back to latin1.",
		Reports: []string{"gh-ost 1438", "gh-ost 1568"},
		Cluster: semiSync,
		Table:   table,
		Alter: "MODIFY modern VARCHAR(20) CHARACTER SET latin1 NULL, MODIFY cyrillic VARCHAR(20) CHARACTER SET utf8mb4 NULL, " +
			"MODIFY wide VARCHAR(20) CHARACTER SET utf16 NULL",

		Faults: copiedThen(workload.Update(table, "1", history.Row{"modern": history.Text("Düne"), "cyrillic": history.Text("Пока")})),

		Expect:  harness.Completed,
		Guards:  check.AlteredValue,
		Control: "bytes-taken-for-latin1",
	})
}
