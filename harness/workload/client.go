package workload

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
)

// Client is one connection that issues operations and records what it knows
// of each. It reconnects by itself. It is for one goroutine at a time; an
// operation begun by Start must have ended before the next one.
type Client struct {
	name string
	db   *sql.DB
	rec  *history.Recorder
	conn *sql.Conn
}

// NewClient returns a client that records under name. It takes a connection
// of its own out of db when it first needs one; db must name a database.
func NewClient(name string, db *sql.DB, rec *history.Recorder) *Client {
	return &Client{name: name, db: db, rec: rec}
}

// Do issues the writes, several of them as one transaction, and returns when
// the outcome is recorded. The error is the server's refusal, or the loss of
// the connection.
func (c *Client) Do(ctx context.Context, writes ...Write) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	_, err := c.issue(ctx, c.rec.Begin(c.op(writes)), writes)
	return err
}

// Pending is an operation under way.
type Pending struct {
	ID   int // of the operation in the record
	done chan struct{}
	err  error
}

// Start issues the writes like Do and does not wait: for an INSERT that hangs
// until its ACK comes. Cancelling ctx loses the connection, not the write.
func (c *Client) Start(ctx context.Context, writes ...Write) (*Pending, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	p := &Pending{ID: c.rec.Begin(c.op(writes)), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, p.err = c.issue(ctx, p.ID, writes)
	}()
	return p, nil
}

// Done is closed when the operation's outcome is recorded.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait waits for the operation's outcome and returns what Do would return.
func (p *Pending) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("wait for operation %d: %w", p.ID, ctx.Err())
	}
}

// ThreadID returns the server's id of the client's connection, as in
// SHOW PROCESSLIST and gtid_owned. It connects if need be.
func (c *Client) ThreadID(ctx context.Context) (uint64, error) {
	if err := c.connect(ctx); err != nil {
		return 0, err
	}
	var id uint64
	if err := c.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		return 0, fmt.Errorf("ask for connection id: %w", err)
	}
	return id, nil
}

// Close closes the connection. No operation may be under way.
func (c *Client) Close() error { return c.drop() }

func (c *Client) connect(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect %s: %w", c.name, err)
	}
	c.conn = conn
	return nil
}

// drop closes the connection for good: a session in the middle of something
// must not go back to the pool.
func (c *Client) drop() error {
	if c.conn == nil {
		return nil
	}
	conn := c.conn
	c.conn = nil
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // says nothing but "discarded"
	if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return fmt.Errorf("close %s: %w", c.name, err)
	}
	return nil
}

func (c *Client) op(writes []Write) history.Op {
	op := history.Op{Client: c.name, Kind: "transaction"}
	if len(writes) == 1 && len(writes[0].Changes) == 1 {
		op.Kind = string(writes[0].Changes[0].Kind)
	}
	for _, w := range writes {
		op.SQL = append(op.SQL, w.SQL)
		op.Changes = append(op.Changes, w.Changes...)
	}
	return op
}

// issue sends the statements, and records and returns the outcome.
func (c *Client) issue(ctx context.Context, id int, writes []Write) (history.Outcome, error) {
	outcome, err := c.transact(ctx, writes)
	return outcome, c.end(id, outcome, err)
}

func (c *Client) transact(ctx context.Context, writes []Write) (history.Outcome, error) {
	if len(writes) == 1 {
		_, err := c.conn.ExecContext(ctx, writes[0].SQL)
		return deciding(err), err
	}
	if err := c.begin(ctx, writes); err != nil {
		return history.Failed, err
	}
	_, err := c.conn.ExecContext(ctx, "COMMIT")
	return deciding(err), err
}

// begin does the writes in a transaction and leaves it open, or, after an
// error, rolled back.
func (c *Client) begin(ctx context.Context, writes []Write) error {
	if _, err := c.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	for _, w := range writes {
		if _, err := c.conn.ExecContext(ctx, w.SQL); err != nil {
			// Nothing was committed. A lock wait timeout rolls back its
			// statement alone, so the rest needs a ROLLBACK; if the
			// connection is gone, the server rolls back by itself.
			if _, lost := c.conn.ExecContext(ctx, "ROLLBACK"); lost != nil {
				err = errors.Join(err, lost, c.drop())
			}
			return err
		}
	}
	return nil
}

// Errors that the server may give for a statement that was committed, or will
// be: they end the statement, not the transaction that waits for its ACK.
const (
	errServerShutdown = 1053
	errDuringCommit   = 1180
	errInterrupted    = 1317
)

// deciding returns the outcome of a statement that commits.
func deciding(err error) history.Outcome {
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		return history.OK
	case errors.As(err, &refused):
		switch refused.Number {
		case errServerShutdown, errDuringCommit, errInterrupted:
			return history.Unknown
		}
		return history.Failed
	case errors.Is(err, driver.ErrBadConn):
		// The driver returns it only when nothing was sent.
		return history.Failed
	default:
		return history.Unknown
	}
}
