package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"log"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
	"rowproof/harness/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	capDeprecateEOF    = 1 << 24
	capQueryAttributes = 1 << 27
	capSSL             = 1 << 11
	capCompress        = 1 << 5
	capZstd            = 1 << 26

	// baseCaps: long password, found rows, connect with db, local files,
	// protocol 41, transactions, secure connection, multi statements and
	// results, plugin auth.
	baseCaps = 1 | 2 | 4 | 8 | 128 | 512 | 8192 | 32768 | 1<<16 | 1<<17 | 1<<18 | 1<<19
)

// result is what the fake server answers to one statement.
type result struct {
	columns  []string
	rows     [][]string
	affected byte
	err      string
	infile   bool
	dump     [][]byte // packets of a binlog stream
	hang     bool     // no answer at all
}

// fakeServer speaks just enough of the protocol to be a server: every login
// is right, every statement gets the answer that the test wrote for it.
type fakeServer struct {
	listener net.Listener
	caps     uint32
	answer   func(sql string) []result
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	seen  []string // statements, in order of arrival
	gone  chan struct{}
	acks  chan []byte // what came while a binlog streamed
}

// serve starts a fake server; ok is what statements without an answer get.
func serve(t testing.TB, caps uint32, answer func(sql string) []result) *fakeServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakeServer{listener: l, caps: baseCaps | caps, answer: answer, gone: make(chan struct{}, 100), acks: make(chan []byte, 10)}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			s.wg.Go(func() {
				defer func() { s.gone <- struct{}{} }()
				defer c.Close()
				s.session(c)
			})
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *fakeServer) stop() {
	s.listener.Close()
	s.mu.Lock()
	for _, c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *fakeServer) addr() string { return s.listener.Addr().String() }

// count says how often a statement has arrived.
func (s *fakeServer) count(sql string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, q := range s.seen {
		if q == sql {
			n++
		}
	}
	return n
}

// session is one connection of the fake server.
type session struct {
	server *fakeServer
	r      *bufio.Reader
	w      *bufio.Writer
	seq    byte
	caps   uint32
	stmts  map[uint32]string
}

func (s *fakeServer) session(c net.Conn) {
	x := &session{server: s, r: bufio.NewReader(c), w: bufio.NewWriter(c), stmts: make(map[uint32]string)}
	greeting := append([]byte{10}, "9.9.9-fake\x00"...)
	greeting = binary.LittleEndian.AppendUint32(greeting, 4711)
	greeting = append(greeting, "12345678\x00"...)
	greeting = binary.LittleEndian.AppendUint16(greeting, uint16(s.caps))
	greeting = append(greeting, 45, 2, 0)
	greeting = binary.LittleEndian.AppendUint16(greeting, uint16(s.caps>>16))
	greeting = append(greeting, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	greeting = append(greeting, "123456789012\x00mysql_native_password\x00"...)
	x.write(greeting)
	login, err := x.read()
	if err != nil {
		return
	}
	x.caps = binary.LittleEndian.Uint32(login) & s.caps
	x.write([]byte{0, 0, 0, 2, 0, 0, 0})
	for {
		command, err := x.read()
		if err != nil || len(command) == 0 || command[0] == 1 {
			return
		}
		x.command(command)
	}
}

func (x *session) read() ([]byte, error) {
	var b []byte
	for {
		var h [4]byte
		x.w.Flush()
		if _, err := io.ReadFull(x.r, h[:]); err != nil {
			return nil, err
		}
		n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
		part := make([]byte, n)
		if _, err := io.ReadFull(x.r, part); err != nil {
			return nil, err
		}
		x.seq = h[3] + 1
		b = append(b, part...)
		if n < 1<<24-1 {
			return b, nil
		}
	}
}

func (x *session) write(b []byte) {
	for {
		n := min(len(b), 1<<24-1)
		x.w.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), x.seq})
		x.w.Write(b[:n])
		x.seq++
		b = b[n:]
		if n < 1<<24-1 {
			return
		}
	}
}

func (x *session) command(b []byte) {
	switch b[0] {
	case 3:
		text := b[1:]
		if x.caps&capQueryAttributes != 0 && len(text) > 1 && text[0] == 0 {
			text = text[2:]
		}
		x.results(string(text), false)
	case 0x16:
		x.prepare(string(b[1:]))
	case 0x17:
		x.results(x.stmts[binary.LittleEndian.Uint32(b[1:])], true)
	case 0x12, 0x1e:
		x.results("dump", false)
	case 0x18, 0x19: // long data, close
	default:
		x.write([]byte{0, 0, 0, 2, 0, 0, 0})
	}
}

// prepare hands out statement ids that are not simply counted up, as the ids
// of a server are not.
func (x *session) prepare(text string) {
	id := uint32(len(x.stmts)*7 + 100)
	x.stmts[id] = text
	params := strings.Count(text, "?")
	b := binary.LittleEndian.AppendUint32([]byte{0}, id)
	columns := 0
	if results := x.server.answer(text); len(results) > 0 {
		columns = len(results[0].columns)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(columns))
	b = binary.LittleEndian.AppendUint16(b, uint16(params))
	x.write(append(b, 0, 0, 0))
	for _, n := range []int{params, columns} {
		for range n {
			x.column("?")
		}
		if n > 0 {
			x.eof(2)
		}
	}
}

// eof ends column definitions, where the client wants that.
func (x *session) eof(status byte) {
	if x.caps&capDeprecateEOF == 0 {
		x.write([]byte{0xfe, 0, 0, status, 0})
	}
}

func (x *session) column(name string) {
	b := append([]byte("\x03def\x00\x00\x00"), byte(len(name)))
	b = append(b, name...)
	x.write(append(b, 0, 12, 45, 0, 0, 1, 0, 0, 253, 0, 0, 0, 0, 0))
}

func (x *session) results(text string, binary bool) {
	s := x.server
	s.mu.Lock()
	s.seen = append(s.seen, text)
	s.mu.Unlock()
	results := s.answer(text)
	if results == nil {
		results = []result{{}}
	}
	for i, r := range results {
		status := byte(2)
		if i < len(results)-1 {
			status |= 8
		}
		x.result(r, status, binary)
	}
}

func (x *session) result(r result, status byte, binary bool) {
	switch {
	case r.hang:
	case r.err != "":
		x.write(append([]byte("\xff\x16\x04#23000"), r.err...))
	case r.dump != nil:
		for _, p := range r.dump {
			x.write(p)
		}
		x.w.Flush()
		for {
			b, err := x.read()
			if err != nil {
				return
			}
			x.server.acks <- b
		}
	case r.infile:
		x.write([]byte("\xfbReader::lines"))
		n := 0
		for {
			b, err := x.read()
			if err != nil {
				return
			}
			if len(b) == 0 {
				break
			}
			n += bytes.Count(b, []byte("\n"))
		}
		x.write([]byte{0, byte(n), 0, status, 0, 0, 0})
	case r.columns != nil:
		x.rows(r, status, binary)
	default:
		x.write([]byte{0, r.affected, 0, status, 0, 0, 0})
	}
}

func (x *session) rows(r result, status byte, bin bool) {
	x.write([]byte{byte(len(r.columns))})
	for _, c := range r.columns {
		x.column(c)
	}
	x.eof(status)
	for _, row := range r.rows {
		var b []byte
		if bin {
			b = append(b, 0)
			b = append(b, make([]byte, (len(row)+7+2)/8)...)
		}
		for _, v := range row {
			switch {
			case v == "NULL" && !bin:
				b = append(b, 0xfb)
				continue
			case len(v) < 251:
				b = append(b, byte(len(v)))
			default:
				b = binary.LittleEndian.AppendUint64(append(b, 0xfe), uint64(len(v)))
			}
			b = append(b, v...)
		}
		x.write(b)
	}
	if x.caps&capDeprecateEOF == 0 {
		x.write([]byte{0xfe, 0, 0, status, 0})
	} else {
		x.write([]byte{0xfe, 0, 0, status, 0, 0, 0})
	}
}

// answers answers by the statement's text.
func answers(m map[string][]result) func(string) []result {
	return func(sql string) []result { return m[sql] }
}

// listen opens a proxy before a server.
func listen(t testing.TB, s *fakeServer, config wire.Config) *wire.Proxy {
	t.Helper()
	config.Upstream = s.addr()
	p, err := wire.Listen(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// open opens a database through an address.
func open(t testing.TB, addr string) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd = "tcp", addr, "u", "p"
	c.MultiStatements = true
	c.MaxAllowedPacket = 64 << 20
	c.Logger = log.New(io.Discard, "", 0)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// deadline is for what must happen at once; it only bounds a failing test.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func noErr(t testing.TB, p *wire.Proxy) {
	t.Helper()
	if err := p.Err(); err != nil {
		t.Errorf("proxy: %v", err)
	}
}

func rx(s string) *regexp.Regexp { return regexp.MustCompile(s) }
