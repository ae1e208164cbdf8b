package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"

	"rowproof/engine/mysql"
)

// Config says what to stream.
type Config struct {
	Server   *mysql.Server
	ServerID uint32 // a replica id that no other replica of the server uses
	Schema   string
	Original string
	Shadow   string
	Control  string // the engine's own table: its rows carry markers
	Resumed  bool   // what an earlier run did to the shadow may come through
	Columns  int    // number of the original's columns
	Key      []int  // places of the key columns among the original's columns, from 0
	Log      *slog.Logger
}

// Handler receives what the stream finds. Its functions are called in binlog
// order by one goroutine; while one of them blocks, the server is not read
// from, so a slow handler bounds the memory in use.
type Handler struct {
	// Changed is told that the row under this key changed. Unless gone is
	// set, nothing has been removed: the row was inserted, or updated under
	// the very same key. The key's slice is only lent.
	Changed func(ctx context.Context, key []any, gone bool) error
	Marker  func(token string) // a marker row of the control table passed
	Ready   func()             // the server has begun to send, once per connection

	// Boundary is told the end of each transaction, when Changed has returned
	// for all its keys and for none that follows.
	Boundary func(Position)
}

// Stream follows the binlog from one position on.
type Stream struct {
	cfg      Config
	handler  Handler
	boundary atomic.Pointer[Position]
	expected sync.Map // statement -> true
	foreign  atomic.Int64
	delay    atomic.Int64  // see Delay, in nanoseconds
	ahead    time.Duration // of the server's clock; for the goroutine that reads
	identity string        // as a replica, in place of a server's UUID
	born     birth         // of the file that was read last; Run's own
}

// New returns a stream that has not started.
func New(cfg Config, handler Handler) *Stream {
	return &Stream{cfg: cfg, handler: handler, identity: newUUID()}
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Position returns the last transaction boundary that passed: everything
// before it has been given to the handler.
func (s *Stream) Position() Position {
	if p := s.boundary.Load(); p != nil {
		return *p
	}
	return Position{}
}

// Delay is how long ago the last transaction was committed when it came
// through the stream, by the server's clock.
func (s *Stream) Delay() time.Duration { return time.Duration(s.delay.Load()) }

// Foreign counts the changes of rows, on any table, that are not the
// engine's own: it grows with the application's writes. Rows that one event
// holds count as one.
func (s *Stream) Foreign() int64 { return s.foreign.Load() }

// Expect announces a statement that the caller itself is about to run on the
// original or the shadow, to the letter: it may come through the stream
// before the server has answered it, and must not stop the stream.
func (s *Stream) Expect(statement string) { s.expected.Store(statement, true) }

// ErrOtherServer means that another server answers at the source's address.
var ErrOtherServer = errors.New("another server answers at this address")

// fatal is an error that no new connection mends.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// A lost connection is sought again after minDelay, then after twice the
// time up to maxDelay, for maxQuiet in all.
const (
	minDelay = 50 * time.Millisecond
	maxDelay = 5 * time.Second
	maxQuiet = 2 * time.Minute
)

// Run follows the binlog from p until ctx ends, which is not an error, or
// until something happens after which the shadow could not be right. A lost
// connection is taken up again at the last transaction boundary.
func (s *Stream) Run(ctx context.Context, p Position) error {
	s.boundary.Store(&p)
	delay, lost := minDelay, time.Time{}
	for {
		before := s.Position()
		err := s.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var f fatal
		if errors.As(err, &f) {
			return f.error
		}
		if s.Position() != before || lost.IsZero() {
			delay, lost = minDelay, time.Now()
		}
		if time.Since(lost) > maxQuiet {
			return fmt.Errorf("read binlog: no connection for %v: %w", maxQuiet, err)
		}
		s.cfg.Log.Warn("binlog connection lost", "at", s.Position().String(), "error", err.Error()) // without its stack
		if !mysql.Wait(ctx, delay) {
			return nil
		}
		delay = min(2*delay, maxDelay)
	}
}

// follow reads one connection until it breaks.
func (s *Stream) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from := s.Position()
	r := &reader{Stream: s, ctx: ctx, file: from.File, tables: map[uint64]*table{}}
	if from.GTIDs != "" {
		set, err := gomysql.ParseMysqlGTIDSet(from.GTIDs)
		if err != nil {
			return fatal{fmt.Errorf("read GTID set %q: %w", from.GTIDs, err)}
		}
		r.gtids = set.(*gomysql.MysqlGTIDSet)
	}
	conn, err := s.connect(ctx, from, r.gtids)
	if err != nil {
		return classify(err)
	}
	defer s.hangUp(ctx, conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.Conn.Conn.Close() })
	defer stop()
	r.events = newEvents(newPackets(conn.Conn.Conn, silence))
	defer r.events.close()
	return r.run()
}

// classify tells what the server answers, such as that a binlog is purged,
// from a lost connection.
func classify(err error) error {
	var server *gomysql.MyError
	if !errors.As(err, &server) {
		return err
	}
	switch server.Code {
	case gomysql.ER_SERVER_SHUTDOWN, gomysql.ER_CON_COUNT_ERROR, gomysql.ER_TOO_MANY_USER_CONNECTIONS, gomysql.ER_QUERY_INTERRUPTED:
		return err
	}
	return fatal{fmt.Errorf("read binlog: %s (error %d)", server.Message, server.Code)}
}
