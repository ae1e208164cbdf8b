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

			mysql.RegisterReaderHandler("lines", func() io.Reader { return strings.NewReader("a\nb\nc\n") })
			defer mysql.DeregisterReaderHandler("lines")
			for range 2 {
				r, err := db.ExecContext(ctx, "load")
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := r.RowsAffected(); n != 3 {
					t.Errorf("LOAD DATA LOCAL: %d rows, want 3", n)
				}
			}
			noErr(t, p)
		})
	}
}

func TestReset(t *testing.T) {
	s := serve(t, 0, answers(nil))
	p := listen(t, s, wire.Config{})
	c := login(t, p)
	for _, command := range []string{"\x0e", "\x02shop", "\x1f", "\x11u\x00", "\x03do 1", "\x09"} {
		c.send(0, command)
		if got := c.read(); got == "" || got[0] != 0 {
			t.Errorf("command %q: %q", command, got)
		}
	}
	c.send(0, "\x01")
	<-s.gone
	noErr(t, p)
}

// Commands without a reply, and the next command behind them, come in one
// write from many clients.
func TestPipelined(t *testing.T) {
	s := serve(t, 0, answers(nil))
	p := listen(t, s, wire.Config{})
	c := login(t, p)
	c.send(0, "\x16select ?")
	for range 3 { // the id, one parameter, its end
		c.read()
	}
	g := p.Gate(wire.Rule{Kind: wire.KindClose})
	c.send(0, "\x18\x64\x00\x00\x00\x00\x00data")
	c.send(0, "\x19\x64\x00\x00\x00")
	c.send(0, "\x03do 1")
	if h, err := g.Wait(deadline(t)); err != nil || h.Command.SQL != "select ?" {
		t.Errorf("close: %+v, %v", h, err)
	}
	g.Release()
	if got := c.read(); got == "" || got[0] != 0 {
		t.Errorf("reply %q", got)
	}
	noErr(t, p)
}

func TestRecording(t *testing.T) {
	s := migrationServer(t)
	rec := history.NewRecorder()
	log := new(safeBuffer)
	p := listen(t, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc"), Recorder: rec, Log: log})
	db := open(t, p.Addr())
	db.SetMaxOpenConns(1)
	g := p.Gate(wire.Rule{Name: "hold it", Step: step.RangeRead})
	done := exec(deadline(t), db, read, false)
	if _, err := g.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	g.Release()
	if got := <-done; got.err != nil {
		t.Fatal(got.err)
	}
	if _, err := db.ExecContext(t.Context(), "create user u identified by 'hush', v identified with x by 'hush'"); err != nil {
		t.Fatal(err)
	}
	var got []history.Mark
	for _, m := range rec.Marks() {
		m.At = 0
		delete(m.Data, "thread")
		got = append(got, m)
	}
	want := []history.Mark{
		{Lane: "subject", Name: history.MarkHeld, Step: "range-read", Data: map[string]string{"gate": "hold it", "conn": "1", "occurrence": "1"}},
		{Lane: "subject", Name: history.MarkReleased, Step: "range-read", Data: map[string]string{"gate": "hold it", "conn": "1", "occurrence": "1"}},
		{Lane: "subject", Name: history.MarkStepSent, Step: "range-read", Text: read, Data: map[string]string{"conn": "1", "occurrence": "1"}},
		{Lane: "subject", Name: history.MarkStepReplied, Step: "range-read", Data: map[string]string{
			"conn": "1", "occurrence": "1", "affected": "0", "row_count": "1",
			"columns": `["min(id)","max(id)"]`, "rows": `[["1",null]]`}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	type line struct{ SQL, Kind, Step string }
	var lines []line
	for dec := json.NewDecoder(strings.NewReader(log.String())); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	wantLines := []line{{read, "query", "range-read"}, {"create user u identified by '***', v identified with x by '***'", "query", ""}}
	if diff := cmp.Diff(wantLines, lines); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	noErr(t, p)
}

func TestErrConfig(t *testing.T) {
	_, err := wire.Listen(t.Context(), wire.Config{Upstream: "nowhere"})
	if err == nil || !strings.Contains(err.Error(), "Upstream") {
		t.Errorf("got %v, want an error that names Upstream", err)
	}
}

func TestErrLog(t *testing.T) {
	s := migrationServer(t)
	p := listen(t, s, wire.Config{Log: brokenWriter{}})
	if got := <-exec(deadline(t), open(t, p.Addr()), write, false); got.err != nil {
		t.Fatal(got.err)
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "statement log") {
		t.Errorf("got %v, want the broken log", err)
	}
}

// A server that is down closes the client's connection, and nothing else.
func TestErrServerDown(t *testing.T) {
	s := migrationServer(t)
	p := listen(t, s, wire.Config{})
	s.stop()
	if b, err := io.ReadAll(dial(t, p.Addr())); len(b) != 0 {
		t.Errorf("got %q, %v", b, err)
	}
	noErr(t, p)
}

func TestEndsWithContext(t *testing.T) {
	s := migrationServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := wire.Listen(ctx, wire.Config{Upstream: s.addr()})
	if err != nil {
		t.Fatal(err)
	}
	c := login(t, p)
	cancel()
	if got := c.read(); got != "" {
		t.Errorf("got %q", got)
	}
	p.Close()
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// rawClient sends exactly the bytes that a test wants.
type rawClient struct {
	t testing.TB
	net.Conn
}

func (c rawClient) send(seq byte, payload string) {
	c.t.Helper()
	if _, err := c.Write(wire.MakePacket(seq, []byte(payload))); err != nil {
		c.t.Error(err)
	}
}

// read returns the next payload, or "" at the end of the connection.
func (c rawClient) read() string {
	var h [4]byte
	if _, err := io.ReadFull(c, h[:]); err != nil {
		return ""
	}
	b := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	io.ReadFull(c, b)
	return string(b)
}

func loginPayload(caps uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, caps)
	b = append(b, make([]byte, 4+1+23)...)
	return string(b) + "u\x00\x00mysql_native_password\x00"
}

// login logs in by hand.
func login(t testing.TB, p *wire.Proxy) rawClient {
	t.Helper()
	c := rawClient{t, dial(t, p.Addr())}
	c.read()
	c.send(1, loginPayload(baseCaps))
	if got := c.read(); got == "" || got[0] != 0 {
		t.Fatalf("login: %q", got)
	}
	return c
}
