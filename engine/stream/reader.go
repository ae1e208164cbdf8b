package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
)

// reader handles the events of one connection.
type reader struct {
	*Stream
	ctx    context.Context // of this connection
	events *events
	tables map[uint64]*table
	images images
	file   string
	ready  bool
	end    uint32 // see alive
	still  int

	gtids    *gomysql.MysqlGTIDSet // nil without GTIDs
	next     *replication.GTIDEvent
	rendered time.Time // when gtids were last made into text
}

// run reads events until the connection ends. Only an error that is fatal
// says more than that.
func (r *reader) run() error {
	for {
		var broken error // what handling an event came to
		err := r.events.next(func(h header, c *cursor) error {
			broken = r.handle(h, c)
			return broken
		})
		switch {
		case err == nil:
			continue
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case broken != nil && !connectionLost(broken):
			return fatal{fmt.Errorf("read binlog at %s: %w", r.Position(), broken)}
		}
		return classify(err)
	}
}

// connectionLost tells an event that was cut short from one that can't be
// understood, or must not be passed over.
func connectionLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(interface{ Timeout() bool }))
}

func (r *reader) handle(h header, c *cursor) error {
	if !r.ready {
		r.ready = true
		r.handler.Ready()
	}
	switch h.kind {
	case replication.ROTATE_EVENT:
		pos := c.number(8)
		r.file = string(c.copied(min(c.left, maxFileName)))
		if h.end > 0 && c.err == nil { // a real one, not the one that opens a connection
			r.publish(uint32(pos))
		}
	case replication.FORMAT_DESCRIPTION_EVENT:
		clear(r.tables)
		return r.sameFile(h)
	case replication.GTID_EVENT, replication.ANONYMOUS_GTID_EVENT, replication.GTID_TAGGED_LOG_EVENT:
		// A transaction begins here, so everything before it is whole. This
		// is the only place that publishes a position inside a file: commits,
		// savepoints, XA and DDL end in too many ways to list.
		r.publish(h.begin())
		return r.transaction(h, c)
	case replication.TRANSACTION_PAYLOAD_EVENT:
		return r.events.transaction(c, func(inner header, c *cursor) error {
			inner.end = 0 // it does not stand in the file
			return r.handle(inner, c)
		})
	case replication.TABLE_MAP_EVENT:
		return r.tableMap(c)
	case replication.WRITE_ROWS_EVENTv1, replication.UPDATE_ROWS_EVENTv1, replication.DELETE_ROWS_EVENTv1,
		replication.WRITE_ROWS_EVENTv2, replication.UPDATE_ROWS_EVENTv2, replication.DELETE_ROWS_EVENTv2,
		replication.PARTIAL_UPDATE_ROWS_EVENT:
		return r.rows(h.kind, c)
	case replication.QUERY_EVENT:
		return r.statement(c)
	case replication.HEARTBEAT_EVENT:
		return r.alive(h)
	case replication.INCIDENT_EVENT:
		return errors.New("the server reports an incident: events are missing")
	case replication.WRITE_ROWS_EVENTv0, replication.UPDATE_ROWS_EVENTv0, replication.DELETE_ROWS_EVENTv0:
		return fmt.Errorf("row event of type %d, from before MySQL 5.1, can't be read", h.kind)
	}
	return c.err
}

// maxFileName is how long the name of a binlog file can be.
const maxFileName = 512

// maxStatement is how long a statement may be that is looked through.
const maxStatement = 16 << 20

// statement reads a statement that stands in the binlog as text.
func (r *reader) statement(c *cursor) error {
	c.skip(4 + 4) // session, duration
	schema := int64(c.number(1))
	c.skip(2) // error code
	variables := int64(c.number(2))
	c.skip(variables)
	name := string(c.copied(schema))
	c.skip(1)
	if c.left > maxStatement {
		return fmt.Errorf("a statement of %d bytes is too long to be looked through", c.left)
	}
	if c.whole != nil && (string(c.whole) == "BEGIN" || string(c.whole) == "COMMIT") {
		return nil // the usual case
	}
	text := string(c.copied(c.left))
	if c.err != nil {
		return c.err
	}
	return r.query(name, text)
}

// publish records a transaction boundary in the current file.
//
// To write out the executed set takes longer than to apply a small
// transaction, so with GTIDs not every boundary is published.
func (r *reader) publish(pos uint32) {
	p := Position{File: r.file, Pos: pos}
	if r.gtids != nil {
		r.executed()
		if time.Since(r.rendered) < renderEvery {
			return
		}
		r.rendered = time.Now()
		p.GTIDs = r.gtids.String()
	}
	r.boundary.Store(&p)
	if r.handler.Boundary != nil {
		r.handler.Boundary(p)
	}
}

const renderEvery = 10 * time.Millisecond

// executed adds the transaction that has just ended to the executed set. An
// anonymous one has nothing to add.
func (r *reader) executed() {
	if r.next != nil {
		r.gtids.AddGTIDWithTag([16]byte(r.next.SID), r.next.Tag, r.next.GNO)
	}
	r.next = nil
}

// transaction reads the name of the transaction that begins, and when it was
// committed.
func (r *reader) transaction(h header, c *cursor) error {
	if h.kind == replication.GTID_TAGGED_LOG_EVENT {
		var tagged replication.GtidTaggedLogEvent
		if err := tagged.Decode(c.copied(min(c.left, window))); err != nil {
			return err
		}
		if r.gtids != nil {
			r.next = &tagged.GTIDEvent
		}
		r.late(tagged.ImmediateCommitTimestamp)
		return c.err
	}
	c.skip(1) // flags
	if r.gtids != nil && h.kind == replication.GTID_EVENT {
		r.next = &replication.GTIDEvent{SID: append([]byte(nil), c.take(16)...), GNO: int64(c.number(8))}
	} else {
		c.skip(16 + 8)
	}
	const dependencies, stamp = 1 + 8 + 8, 7
	if c.left < dependencies+stamp {
		return c.err // from before MySQL 8.0
	}
	c.skip(dependencies)
	const original = 1 << 55 // another server's time follows
	r.late(c.number(stamp) &^ original)
	return c.err
}

// late measures Delay by a transaction that was committed at a time, in
// microseconds since 1970.
func (r *reader) late(committed uint64) {
	now := time.Now().Add(r.ahead)
	r.delay.Store(int64(max(0, now.Sub(time.UnixMicro(int64(committed))))))
}

// sameFile fails if a file that was read before is another one now: after
// RESET BINARY LOGS the names begin anew.
func (r *reader) sameFile(h header) error {
	now := birth{file: r.file, at: h.at}
	if before := r.born; before.file == now.file && before.at != now.at {
		return fmt.Errorf("%s is another file than before: somebody has reset the binary logs", now.file)
	}
	r.born = now
	return nil
}

// birth is when the server began to write a file.
type birth struct {
	file string
	at   uint32
}

// alive is called when the server says that nothing comes after a place. If
// there is news time and again it reads from a file that is the server's no
// longer, as after RESET BINARY LOGS, and a new connection will tell.
func (r *reader) alive(h header) error {
	now, err := Current(r.ctx, r.cfg.Server, false)
	if err != nil || h.end != r.end || now.File == r.file && now.Pos == h.end {
		r.end, r.still = h.end, 0
		return nil //nolint:nilerr // a server that can't be asked now may be asked at the next heartbeat
	}
	if r.still++; r.still < 2 {
		return nil
	}
	return fmt.Errorf("%w: it has reached %s and sends nothing after %s:%d", errStalled, now, r.file, r.end)
}

var errStalled = fmt.Errorf("server has stopped sending: %w", io.ErrUnexpectedEOF)
