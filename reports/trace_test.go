package reports_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"rowproof/harness/history"
	"rowproof/reports"
)

func TestWriteTrace(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return at.Add(d) }
	said := []history.Statement{
		{Time: at, Conn: 1, Kind: "query", SQL: "SELECT @@version"},
		{Time: after(1500 * time.Microsecond), Conn: 1, Kind: "query", SQL: "\n\tCREATE TABLE `_t_new`\n\t\tLIKE `t`", Step: "shadow"},
		{Time: after(2 * time.Second), Conn: 12, Kind: "dump", SQL: "binlog dump from binlog.000001:4", Step: "dump"},
		{Time: after(2 * time.Second), Conn: 1, Kind: "query", SQL: "INSERT INTO n VALUES ('\x1b[31m')", Step: "sentinel", Swallowed: true},
		{Time: after(3 * time.Second), Conn: 13, Kind: "connect", Error: "connection refused"},
	}

	t.Run("OK", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteTrace(&b, said); err != nil {
			t.Fatal(err)
		}
		golden(t, "trace.golden", b.Bytes())
	})

	t.Run("OK/Nothing", func(t *testing.T) {
		if err := reports.WriteTrace(new(bytes.Buffer), nil); err != nil {
			t.Fatal(err)
		}
	})

	t.Run("ErrWrite", func(t *testing.T) {
		f, err := os.Open(os.DevNull) // not for writing
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := reports.WriteTrace(f, said); err == nil {
			t.Error("write: got no error")
		}
	})
}
