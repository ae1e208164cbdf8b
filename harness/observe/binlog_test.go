package observe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestBinlog(t *testing.T) {
	for _, gtid := range []bool{true, false} {
		t.Run(fmt.Sprintf("OK gtid %v", gtid), func(t *testing.T) { binlog(t, gtid) })
	}
}

func binlog(t *testing.T, gtid bool) {
	source := server(t, topology.Spec{GTID: gtid}).Source()
	db := source.DB
	fill(t, db, "t", "v INT, e ENUM('z', 'a'), b BINARY(3), u INT UNSIGNED, PRIMARY KEY (e, b, u)", "")
	run(t, db, "CREATE TABLE "+schema+"._t_new (u INT UNSIGNED, v INT, e ENUM('z', 'a'), b BINARY(3), PRIMARY KEY (e, b, u))", "CREATE TABLE "+schema+".other (id INT PRIMARY KEY)")
	ref := table("t")
	before, err := observe.Describe(t.Context(), db, ref)
	if err != nil {
		t.Fatal(err)
	}
	after, err := observe.Describe(t.Context(), db, table("_t_new"))
	if err != nil {
		t.Fatal(err)
	}
	from, err := observe.BinlogEnd(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db,
		"USE "+schema,
		"INSERT INTO t VALUES (1, 'a', X'610000', 4294967295), (2, 'z', 'abc', 0)",
		"INSERT INTO other VALUES (1)",
		"BEGIN", "UPDATE t SET v = 5 WHERE u = 0", "UPDATE t SET e = 'a' WHERE u = 0", "DELETE FROM t WHERE u <> 0", "COMMIT",
		"FLUSH BINARY LOGS",
		"SET SESSION binlog_transaction_compression = ON",
		"INSERT INTO _t_new VALUES (7, 7, 'z', 'abc')",
		"SET SESSION binlog_transaction_compression = OFF",
		"RENAME TABLE t TO _t_old, _t_new TO t",
		"BEGIN", "INSERT INTO t VALUES (8, 8, 'z', 'abc')", "ROLLBACK",
		"UPDATE t SET v = 9 WHERE u = 7",
		"XA START 'x'", "INSERT INTO _t_old VALUES (1, 'z', 'xyz', 3)", "XA END 'x'", "XA PREPARE 'x'", "XA COMMIT 'x'",
		"DROP TABLE other",
	)
	got, err := observe.Binlog(t.Context(), db, observe.BinlogSource{
		Server: source.Config(topology.Root(), ""), From: from, Schema: schema, Table: "t", Others: []string{"_t_new", "_t_old"}, Before: before, After: after,
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, b := range got {
		told = append(told, strings.TrimSpace(fmt.Sprint(b.Kind, " ", b.Table, " ", b.Key, " ", b.NewKey)))
		if b.Start == 0 || b.End <= b.Start || b.Commit.IsZero() || (b.GTID != "") != gtid {
			t.Errorf("got %+v, want a transaction's start, end, time, and GTID %v", b, gtid)
		}
	}
	want := []string{
		"insert t a,0x610000,4294967295", "insert t z,abc,0",
		"update t z,abc,0", "update t z,abc,0 a,abc,0", "delete t a,0x610000,4294967295",
		"insert _t_new z,abc,7",
		"ddl t",
		"update t z,abc,7",
		"insert _t_old z,xyz,3",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if len(got) > 4 && (got[2].Start != got[4].Start || got[2].End != got[4].End || got[2].Start == got[1].Start) {
		t.Errorf("got %+v, want the rows of one transaction to share its start and end", got[:5])
	}

	end, err := observe.BinlogEnd(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := observe.Binlog(t.Context(), db, observe.BinlogSource{Server: source.Config(topology.Root(), ""), From: end, Schema: schema, Table: "t", Before: before})
	if err != nil || len(rows) > 0 {
		t.Errorf("got %v, %v, want nothing after the end", rows, err)
	}
}

// What has been purged can't be read; what is left can.
func TestBinlogPurged(t *testing.T) {
	source := server(t, topology.Spec{}).Source()
	db := source.DB
	fill(t, db, "p", "id INT PRIMARY KEY", "")
	def, err := observe.Describe(t.Context(), db, table("p"))
	if err != nil {
		t.Fatal(err)
	}
	from, err := observe.BinlogEnd(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db, "INSERT INTO "+schema+".p VALUES (1)", "FLUSH BINARY LOGS")
	end, err := observe.BinlogEnd(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	run(t, db, "PURGE BINARY LOGS TO '"+end.File+"'", "INSERT INTO "+schema+".p VALUES (2)")
	rows, err := observe.Binlog(t.Context(), db, observe.BinlogSource{Server: source.Config(topology.Root(), ""), From: from, Schema: schema, Table: "p", Before: def})
	if err != nil || len(rows) != 1 || rows[0].Key != "2" {
		t.Errorf("got %v, %v, want row 2 alone", rows, err)
	}
}

// The key in the binlog must be spelled as the key in the table is.
func TestBinlogKeys(t *testing.T) {
	source := server(t, topology.Spec{}).Source()
	db := source.DB
	for i, c := range []struct{ column, value string }{
		{"INT", "-5"}, {"BIGINT UNSIGNED", "18446744073709551615"}, {"TINYINT UNSIGNED", "200"}, {"DECIMAL(10,2)", "1.5"}, {"FLOAT", "1.1"}, {"DOUBLE", "0.1"},
		{"CHAR(5)", "'ab'"}, {"VARCHAR(9)", "'é x'"}, {"BINARY(4)", "X'0100'"}, {"VARBINARY(4)", "X'0100'"}, {"BIT(9)", "b'100000001'"},
		{"ENUM('b', 'a')", "'a'"}, {"SET('x', 'y', 'z')", "'z,x'"}, {"DATE", "'2020-01-02'"}, {"DATETIME(3)", "'2020-01-02 03:04:05.6'"},
		{"TIMESTAMP(6)", "'2020-01-02 03:04:05.6'"}, {"TIME(2)", "'-01:02:03.4'"}, {"YEAR", "1999"},
	} {
		t.Run("OK "+c.column, func(t *testing.T) {
			name := fmt.Sprintf("k%d", i)
			fill(t, db, name, "k "+c.column+" PRIMARY KEY", "")
			def, err := observe.Describe(t.Context(), db, table(name))
			if err != nil {
				t.Fatal(err)
			}
			from, err := observe.BinlogEnd(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			run(t, db, "INSERT INTO "+schema+"."+name+" VALUES ("+c.value+")")
			logged, err := observe.Binlog(t.Context(), db, observe.BinlogSource{Server: source.Config(topology.Root(), ""), From: from, Schema: schema, Table: name, Before: def})
			if err != nil || len(logged) != 1 {
				t.Fatalf("got %v, %v, want one row", logged, err)
			}
			rows, err := observe.Rows(t.Context(), db, table(name), []history.Key{logged[0].Key})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := rows[logged[0].Key]; !ok {
				t.Errorf("got key %q in the binlog, and %v in the table", logged[0].Key, rows)
			}
		})
	}
}
