package wire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/wire"
)

func TestReplies(t *testing.T) {
	for name, caps := range map[string]uint32{"EOF": 0, "DeprecateEOF": capDeprecateEOF, "Attributes": capQueryAttributes} {
		t.Run(name, func(t *testing.T) {
			big := strings.Repeat("x", 17<<20)
			s := serve(t, caps, answers(map[string][]result{
				"one":  {{columns: []string{"a"}, rows: [][]string{{"1"}}}},
				"many": {{columns: []string{"a"}, rows: [][]string{{"1"}, {"2"}}}, {affected: 1}, {columns: []string{"b"}, rows: [][]string{}}},
				"bad":  {{columns: []string{"a"}, rows: [][]string{{"1"}}}, {err: "duplicate"}},
				"load": {{infile: true}},
				"big":  {{columns: []string{"a"}, rows: [][]string{{big}}}},
				"?":    {{columns: []string{"a"}, rows: [][]string{{"1"}}}},
				big:    {{affected: 7}},
			}))
			p := listen(t, s, wire.Config{})
			db := open(t, p.Addr())
			db.SetMaxOpenConns(1)
			ctx := deadline(t)
			after := func(sql string) wire.Reply {
				t.Helper()
				g := p.Gate(wire.Rule{Phase: wire.After, Action: wire.Observe})
				defer g.Remove()
				rows, err := db.QueryContext(ctx, sql)
				if err == nil {
					for next := true; next; next = rows.NextResultSet() {
						for rows.Next() {
						}
					}
					rows.Close()
				}
				h, err := g.Wait(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return *h.Reply
			}
			one, two := "1", "2"
			shown := big[:256] + "…"
			_ = shown
			for sql, want := range map[string]wire.Reply{
				"one":  {Columns: []string{"a"}, Rows: [][]*string{{&one}}, RowCount: 1},
				"many": {Columns: []string{"a"}, Rows: [][]*string{{&one}, {&two}}, RowCount: 2, AffectedRows: 1},
				"bad":  {Columns: []string{"a"}, Rows: [][]*string{{&one}}, RowCount: 1, Err: &wire.ServerError{Code: 1046, State: "23000", Message: "duplicate"}},
				"big":  {Columns: []string{"a"}, RowCount: 1},
				big:    {AffectedRows: 7},
			} {
				if diff := cmp.Diff(want, after(sql)); diff != "" {
					t.Errorf("%.10s (-want +got):\n%s", sql, diff)
				}
			}
			var got string
			if err := db.QueryRowContext(ctx, "big").Scan(&got); err != nil || got != big {
				t.Errorf("a row of 17 MiB: %d bytes, %v", len(got), err)
			}

			name := "lines-" + t.Name()
			mysql.RegisterReaderHandler(name, func() io.Reader { return strings.NewReader("a\nb\nc\n") })
			defer mysql.DeregisterReaderHandler(name)
			if n := s.count("load"); n != 0 {
				t.Fatal(n)
			}
			r, err := db.ExecContext(ctx, "load") // the fake asks for a file that was not named
			_ = r
			if err == nil {
				t.Error("the driver sent a file that it was not asked for")
			}
			noErr(t, p)
		})
	}
}
