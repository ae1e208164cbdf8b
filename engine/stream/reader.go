package stream

import (
	"context"
	"fmt"
	"strings"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"
)

// reader handles the events of one connection.
type reader struct {
	*Stream
	ctx   context.Context // of this connection; the event callback brings none
	file  string
	gtids *gomysql.MysqlGTIDSet // nil without GTIDs
	next  *replication.GTIDEvent
	ready bool
	err   error // why the stream must stop for good
}

// HandleEvent implements replication.EventHandler. It runs on the goroutine
// that reads the connection.
func (r *reader) HandleEvent(e *replication.BinlogEvent) error {
	if err := r.handle(e.Header, e.Event); err != nil {
		if r.ctx.Err() == nil {
			r.err = err
		}
		return err
	}
	return nil
}

func (r *reader) handle(h *replication.EventHeader, event replication.Event) error {
	switch e := event.(type) {
	case *replication.RotateEvent:
		r.file = string(e.NextLogName)
		if !r.ready {
			r.ready = true
			r.handler.Ready()
			break
		}
		if h.LogPos > 0 { // a real one, not the one that opens a connection
			r.publish(uint32(e.Position))
		}
	case *replication.GTIDEvent:
		// A transaction begins here, so everything before it is whole. This
		// is the only place that publishes a position inside a file: commits,
		// savepoints, XA and DDL end in too many ways to list.
		r.publish(h.LogPos - h.EventSize)
		r.next = e
	case *replication.GtidTaggedLogEvent:
		r.publish(h.LogPos - h.EventSize)
		r.next = &e.GTIDEvent
	case *replication.TransactionPayloadEvent:
		for _, inner := range e.Events {
			if err := r.handle(inner.Header, inner.Event); err != nil {
				return err
			}
		}
	case *replication.RowsEvent:
		return r.rows(e)
	case *replication.QueryEvent:
		return r.query(string(e.Schema), string(e.Query))
	case *replication.GenericEvent:
		if h.EventType == replication.INCIDENT_EVENT {
			return fmt.Errorf("read binlog at %s:%d: the server reports an incident: events are missing", r.file, h.LogPos)
		}
	}
	return nil
}

// publish records a transaction boundary in the current file.
func (r *reader) publish(pos uint32) {
	p := Position{File: r.file, Pos: pos}
	if before := r.Position(); before.GTIDs != "" {
		p.GTIDs = r.executed(before.GTIDs)
	}
	r.boundary.Store(&p)
}

// executed adds the transaction that has just ended to the executed set.
func (r *reader) executed(text string) string {
	if r.next == nil {
		return text
	}
	if r.gtids == nil {
		set, err := gomysql.ParseMysqlGTIDSet(text)
		if err != nil {
			return text // Stream.start has parsed it, or will refuse it
		}
		r.gtids = set.(*gomysql.MysqlGTIDSet)
	}
	if one, err := r.next.GTIDNext(); err == nil {
		// An anonymous transaction has none to add.
		_ = r.gtids.Update(one.String())
	}
	r.next = nil
	return r.gtids.String()
}

// decodeRows decodes the rows of our two tables alone: a neighbour's events
// cost nothing and can't disturb us.
func (r *reader) decodeRows(e *replication.RowsEvent, data []byte) error {
	pos, err := e.DecodeHeader(data)
	if err != nil || !r.ours(e.Table) {
		return err
	}
	return e.DecodeData(pos, data)
}

func (r *reader) ours(t *replication.TableMapEvent) bool {
	if !strings.EqualFold(string(t.Schema), r.cfg.Schema) {
		return false
	}
	name := string(t.Table)
	return name == r.cfg.Original || name == r.cfg.Control
}

func (r *reader) rows(e *replication.RowsEvent) error {
	if !r.ours(e.Table) {
		return nil
	}
	if string(e.Table.Table) == r.cfg.Control {
		r.markers(e)
		return nil
	}
	if int(e.ColumnCount) != r.cfg.Columns {
		return fmt.Errorf("read binlog at %s: an event of %s has %d columns, the table had %d: somebody altered it",
			r.Position(), r.cfg.Original, e.ColumnCount, r.cfg.Columns)
	}
	if e.Type() != replication.EnumRowsEventTypeUpdate {
		for i, row := range e.Rows {
			key, err := r.key(row, skipped(e, i))
			if err != nil {
				return err
			}
			if err := r.handler.Changed(r.ctx, key); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i+1 < len(e.Rows); i += 2 {
		if err := r.updated(e, i); err != nil {
			return err
		}
	}
	return nil
}

// updated handles the pair of images of one updated row: a changed key is
// two keys, the one that is gone and the one that came.
func (r *reader) updated(e *replication.RowsEvent, i int) error {
	before, err := r.key(e.Rows[i], skipped(e, i))
	if err != nil {
		return err
	}
	if err := r.handler.Changed(r.ctx, before); err != nil {
		return err
	}
	after := make([]any, len(before))
	absent := skipped(e, i+1)
	same := true
	for n, column := range r.cfg.Key {
		after[n] = before[n]
		if !absent[column] {
			after[n] = e.Rows[i+1][column]
		}
		same = same && equal(before[n], after[n])
	}
	if same {
		return nil
	}
	return r.handler.Changed(r.ctx, after)
}

func (r *reader) key(row []any, absent map[int]bool) ([]any, error) {
	key := make([]any, len(r.cfg.Key))
	for n, column := range r.cfg.Key {
		if absent[column] || column >= len(row) {
			return nil, fmt.Errorf("read binlog at %s: an event of %s does not carry its key", r.Position(), r.cfg.Original)
		}
		key[n] = row[column]
	}
	return key, nil
}

func skipped(e *replication.RowsEvent, row int) map[int]bool {
	if row >= len(e.SkippedColumns) || len(e.SkippedColumns[row]) == 0 {
		return nil
	}
	absent := make(map[int]bool, len(e.SkippedColumns[row]))
	for _, column := range e.SkippedColumns[row] {
		absent[column] = true
	}
	return absent
}

// equal compares two decoded key values. Different text for the same value
// only costs a second look at the row.
func equal(a, b any) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	}
	return a == b
}

// markers reads the token, the second column of the control table.
func (r *reader) markers(e *replication.RowsEvent) {
	if e.Type() == replication.EnumRowsEventTypeDelete {
		return
	}
	for i, row := range e.Rows {
		if e.Type() == replication.EnumRowsEventTypeUpdate && i%2 == 0 {
			continue
		}
		switch token := row[1].(type) {
		case string:
			r.handler.Marker(token)
		case []byte:
			r.handler.Marker(string(token))
		}
	}
}
