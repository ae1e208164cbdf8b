package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
)

// Open is a transaction whose writes are done and not committed. It is one
// operation of the ledger, which ends by Commit or Rollback.
type Open struct {
	ID     int // of the operation in the record
	client *Client
}

// Begin does writes in a transaction and leaves it open. The client is busy
// until the transaction ends. An error means that nothing is left of it.
func (c *Client) Begin(ctx context.Context, writes ...Write) (*Open, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	o := &Open{ID: c.rec.Begin(c.op(writes)), client: c}
	if err := c.begin(ctx, writes); err != nil {
		return nil, c.end(o.ID, history.Failed, err)
	}
	return o, nil
}

// Commit commits the transaction. After an error its outcome is what the
// record says: Failed, or Unknown if the reply was lost.
func (o *Open) Commit(ctx context.Context) error {
	_, err := o.client.conn.ExecContext(ctx, "COMMIT")
	return o.client.end(o.ID, deciding(err), err)
}

// Rollback rolls the transaction back. A connection that was lost is no error:
// the server ends what a lost session leaves open.
func (o *Open) Rollback(ctx context.Context) error {
	_, err := o.client.conn.ExecContext(ctx, "ROLLBACK")
	o.client.rec.End(o.ID, history.Failed, 0, "rolled back")
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) {
		err = nil
	}
	return errors.Join(err, o.client.drop())
}

// Prepare does writes in an XA transaction, prepares it and leaves the
// session, so that any other can decide it. The operation stays open: whoever
// decides it calls Decided. An error means that nothing is left of it, or that
// the reply was lost: then it may be prepared, and must be rolled back.
func (c *Client) Prepare(ctx context.Context, xid string, writes ...Write) (id int, err error) {
	if err := c.connect(ctx); err != nil {
		return 0, err
	}
	id = c.rec.Begin(c.op(writes))
	statements := []string{"XA START " + xid}
	for _, w := range writes {
		statements = append(statements, w.SQL)
	}
	for _, statement := range append(statements, "XA END "+xid, "XA PREPARE "+xid) {
		if _, err := c.conn.ExecContext(ctx, statement); err != nil {
			// A session that goes takes its transaction along until it is
			// prepared; a refused XA PREPARE has rolled it back.
			return id, errors.Join(c.end(id, history.Failed, fmt.Errorf("%s: %w", statement, err)), c.drop())
		}
	}
	return id, c.drop()
}

// Decided records how an operation that Prepare left open ended.
func (c *Client) Decided(id int, outcome history.Outcome) { c.rec.End(id, outcome, 0, "") }

// Set makes settings of the client's session, which hold until it has to
// reconnect.
func (c *Client) Set(ctx context.Context, statements ...string) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := c.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("set up the session of %s: %s: %w", c.name, statement, err)
		}
	}
	return nil
}

// Variable returns a variable of the client's session, as SHOW VARIABLES
// prints it.
func (c *Client) Variable(ctx context.Context, name string) (string, error) {
	if err := c.connect(ctx); err != nil {
		return "", err
	}
	var ignored, value string
	err := c.conn.QueryRowContext(ctx, "SHOW SESSION VARIABLES WHERE Variable_name = "+literal(&name)).Scan(&ignored, &value)
	if err != nil {
		return "", fmt.Errorf("read the session's %s: %w", name, err)
	}
	return value, nil
}

// end records an operation's outcome, and gives the session up if it can't be
// relied on any more.
func (c *Client) end(id int, outcome history.Outcome, err error) error {
	if err == nil {
		c.rec.End(id, outcome, 0, "")
		return nil
	}
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		c.rec.End(id, outcome, refused.Number, refused.Message)
	} else {
		c.rec.End(id, outcome, 0, err.Error())
	}
	if refused == nil || outcome == history.Unknown {
		err = errors.Join(err, c.drop())
	}
	return fmt.Errorf("write as %s: %w", c.name, err)
}
