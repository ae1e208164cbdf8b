package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"

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
	Columns  int    // number of the original's columns
	Key      []int  // places of the key columns among the original's columns, from 0
	Log      *slog.Logger
}

// Handler receives what the stream finds. Its functions are called in binlog
// order by one goroutine; while one of them blocks, the server is not read
// from, so a slow handler bounds the memory in use.
type Handler struct {
	Changed func(ctx context.Context, key []any) error // the row under this key changed
	Marker  func(token string)                         // a marker row of the control table passed
	Ready   func()                                     // the server has begun to send, once per connection
}

// Stream follows the binlog from one position on.
type Stream struct {
	cfg      Config
	handler  Handler
	boundary atomic.Pointer[Position]
	expected sync.Map // statement -> true
}

// New returns a stream that has not started.
func New(cfg Config, handler Handler) *Stream { return &Stream{cfg: cfg, handler: handler} }

// Position returns the last transaction boundary that passed: everything
// before it has been given to the handler.
func (s *Stream) Position() Position {
	if p := s.boundary.Load(); p != nil {
		return *p
	}
	return Position{}
}

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
		s.cfg.Log.Warn("binlog connection lost", "at", s.Position().String(), "error", err)
		if !wait(ctx, delay) {
			return nil
		}
		delay = min(2*delay, maxDelay)
		if err := s.sameServer(ctx); err != nil {
			return err
		}
	}
}

// follow reads one connection until it breaks.
func (s *Stream) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from := s.Position()
	r := &reader{Stream: s, ctx: ctx, file: from.File}
	host, port := s.cfg.Server.Host, s.cfg.Server.Port
	if s.cfg.Server.Socket != "" {
		host, port = s.cfg.Server.Socket, 0
	}
	syncer := replication.NewBinlogSyncer(replication.BinlogSyncerConfig{
		ServerID: s.cfg.ServerID, Flavor: "mysql",
		Host: host, Port: port, User: s.cfg.Server.User, Password: s.cfg.Server.Password,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		// Its own retry starts at the last event it saw, which may lie inside
		// a transaction; ours starts at a transaction boundary.
		DisableRetrySync:        true,
		DiscardGTIDSet:          true,
		VerifyChecksum:          true,
		HeartbeatPeriod:         5 * time.Second,
		ReadTimeout:             30 * time.Second,
		TimestampStringLocation: time.UTC,
		RowsEventDecodeFunc:     r.decodeRows,
		SynchronousEventHandler: r,
	})
	// Close waits for the handler, which may wait for the applier: ending
	// the context first lets it go.
	defer syncer.Close()
	defer cancel()
	streamer, err := s.start(syncer, from)
	if err != nil {
		return classify(err)
	}
	_, err = streamer.GetEvent(ctx)
	if r.err != nil {
		return fatal{r.err}
	}
	return classify(err)
}

func (s *Stream) start(syncer *replication.BinlogSyncer, from Position) (*replication.BinlogStreamer, error) {
	if from.GTIDs == "" {
		return syncer.StartSync(gomysql.Position{Name: from.File, Pos: from.Pos})
	}
	set, err := gomysql.ParseMysqlGTIDSet(from.GTIDs)
	if err != nil {
		return nil, fatal{fmt.Errorf("read GTID set %q: %w", from.GTIDs, err)}
	}
	return syncer.StartSyncGTID(set)
}

// classify tells the errors that the server answers to a dump request, such
// as a purged binlog, from a lost connection.
func classify(err error) error {
	var server *gomysql.MyError
	if errors.As(err, &server) && server.Code != gomysql.ER_SERVER_SHUTDOWN {
		return fatal{fmt.Errorf("read binlog: %s (error %d)", server.Message, server.Code)}
	}
	return err
}

// sameServer fails if the address now leads to another server: its binlog
// positions mean nothing to us. While nobody answers it reports no error.
func (s *Stream) sameServer(ctx context.Context) error {
	var uuid string
	if err := s.cfg.Server.DB.QueryRowContext(ctx, "SELECT @@server_uuid").Scan(&uuid); err != nil {
		return nil //nolint:nilerr // nobody answers yet: Run tries again
	}
	if uuid != s.cfg.Server.UUID {
		return fmt.Errorf("read binlog from %s: %w: server_uuid was %s and is %s",
			s.cfg.Server.Address(), ErrOtherServer, s.cfg.Server.UUID, uuid)
	}
	return nil
}

// wait pauses between two attempts to connect; it reports false when ctx
// ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
