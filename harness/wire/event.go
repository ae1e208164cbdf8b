package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-mysql-org/go-mysql/replication"
	"rowproof/harness/history"
)

// EventKind is what a binlog event says.
type EventKind string

// The kinds of events.
const (
	EventGTID      EventKind = "gtid"  // starts a transaction
	EventQuery     EventKind = "query" // BEGIN, COMMIT, or a statement such as DDL
	EventTableMap  EventKind = "table-map"
	EventRows      EventKind = "rows"
	EventXID       EventKind = "xid" // ends a transaction
	EventXAPrepare EventKind = "xa-prepare"
	EventRotate    EventKind = "rotate"    // names the file that follows
	EventFormat    EventKind = "format"    // starts a file
	EventHeartbeat EventKind = "heartbeat" // the server has nothing to send
	EventPayload   EventKind = "payload"   // a compressed transaction, without its gtid event
	EventOther     EventKind = "other"
)

// Event is one event of a binlog stream on its way to the client.
type Event struct {
	Kind EventKind
	File string // the binlog file it stands in
	// Start is its first byte in File, End the byte after it. They are 0 if
	// it stands in no file; a rotate that was made up for this stream has
	// where the stream goes on.
	Start, End uint64
	GTID       string // of its transaction, on every event of it; "" for an anonymous one
	// Schema and Table are those of a table map or of rows; for a payload,
	// those of its first rows. Schema of a query is its default schema.
	Schema, Table string
	Change        history.ChangeKind // of rows: Insert, Update or Delete
	Nth           int                // of rows: which row event of its transaction, from 1
	SQL           string             // of a query
}

// Type bytes of events.
const (
	typeQueryEvent  = 2
	typeRotate      = 4
	typeFormat      = 15
	typeXID         = 16
	typeTableMap    = 19
	typeHeartbeat   = 27
	typeGTID        = 33
	typeAnonymous   = 34
	typeXAPrepare   = 38
	typePartialRows = 39
	typePayload     = 40
	typeHeartbeat2  = 41
	typeTaggedGTID  = 42
	eventHeaderSize = 19
	checksumSize    = 4
	semiSyncMark    = 0xef
	semiSyncSize    = 2
	maxTables       = 4096 // table ids that are remembered between two rotations
	artificialFlag  = 0x20 // the event was made up for this stream
)

type tableName struct{ schema, table string }

// eventParser follows one binlog stream.
type eventParser struct {
	started  bool
	semiSync bool // every event is preceded by two more bytes
	checksum bool
	file     string
	end      uint64 // of the event before, in file
	gtid     string
	rows     int // row events of the transaction so far
	tables   map[uint64]tableName
	payloads *replication.BinlogParser // knows the format; for compressed transactions only
}

// event reads the packet of one event: a zero byte, and with semi-sync two
// more, before the event. full says that the event goes on in the next
// packet, which the parser does not see.
func (p *eventParser) event(b []byte, full bool) (Event, error) {
	b = b[1:]
	if !p.started {
		p.started = true
		p.semiSync = hasSemiSyncHeader(b)
	}
	if p.semiSync {
		if len(b) < semiSyncSize || b[0] != semiSyncMark {
			return Event{}, errors.New("read event: the semi-sync header is missing")
		}
		b = b[semiSyncSize:]
	}
	if len(b) < eventHeaderSize {
		return Event{}, fmt.Errorf("read event: %w", errShort)
	}
	size := binary.LittleEndian.Uint32(b[9:])
	if !full && int(size) != len(b) {
		return Event{}, fmt.Errorf("read event: it says %d bytes and has %d", size, len(b))
	}
	e := Event{Kind: EventOther, File: p.file, GTID: p.gtid}
	artificial := binary.LittleEndian.Uint16(b[17:])&artificialFlag != 0
	if !artificial {
		e.Start, e.End = p.position(uint64(size), uint64(binary.LittleEndian.Uint32(b[13:])))
	}
	p.body(&e, b, full)
	return e, nil
}

// hasSemiSyncHeader tells by the event's own length whether the first event
// of a stream has the two bytes that semi-sync puts before it. Its first byte
// alone would not do: it is a part of the time where there is no such header.
func hasSemiSyncHeader(b []byte) bool {
	if len(b) < eventHeaderSize+semiSyncSize || b[0] != semiSyncMark {
		return false
	}
	return int(binary.LittleEndian.Uint32(b[9:])) != len(b)
}

// position returns where an event stands. A server that leaves out checksums
// on the client's wish sends an event that is four bytes shorter than the one
// in the file; then the end of the event before is the truth.
func (p *eventParser) position(size, end uint64) (uint64, uint64) {
	if end == 0 || end < size {
		return 0, 0
	}
	start := end - size
	if start == p.end+checksumSize {
		start = p.end
	}
	p.end = end
	return start, end
}

// body reads what an event says. Fields that can't be read stay empty: the
// event passes in any case.
func (p *eventParser) body(e *Event, event []byte, full bool) {
	b := event[eventHeaderSize:]
	kind := event[4]
	if p.checksum && !full && kind != typeFormat && kind != typeRotate && len(b) >= checksumSize {
		b = b[:len(b)-checksumSize]
	}
	f := fields{b: b}
	switch kind {
	case typeFormat:
		e.Kind, e.GTID = EventFormat, ""
		p.format(event)
	case typeRotate:
		e.Kind, e.GTID = EventRotate, ""
		p.rotate(e, event, &f)
	case typeGTID, typeAnonymous:
		e.Kind, p.rows = EventGTID, 0
		f.skip(1)
		sid, number := f.take(16), f.uint(8)
		p.gtid = ""
		if kind == typeGTID && f.err == nil {
			p.gtid = fmt.Sprintf("%x-%x-%x-%x-%x:%d", sid[:4], sid[4:6], sid[6:8], sid[8:10], sid[10:], number)
		}
		e.GTID = p.gtid
	case typeTaggedGTID:
		e.Kind, p.rows = EventGTID, 0
		p.gtid = taggedGTID(b)
		e.GTID = p.gtid
	case typeQueryEvent:
		e.Kind = EventQuery
		f.skip(4 + 4) // thread, seconds
		n := int(f.uint(1))
		f.skip(2) // error
		f.skip(int(f.uint(2)))
		e.Schema = string(f.take(n))
		f.skip(1)
		e.SQL = string(f.b)
	case typeXID:
		e.Kind = EventXID
	case typeXAPrepare:
		e.Kind = EventXAPrepare
	case typeTableMap:
		e.Kind = EventTableMap
		id := f.uint(6)
		f.skip(2)
		f.uint(1)
		e.Schema = f.cstring()
		f.uint(1)
		e.Table = f.cstring()
		p.remember(id, tableName{e.Schema, e.Table})
	case typeHeartbeat, typeHeartbeat2:
		e.Kind, e.GTID = EventHeartbeat, ""
		e.Start = e.End
	case typePayload:
		e.Kind = EventPayload
		if !full {
			p.payload(e, event)
		}
	default:
		if e.Change = rowsChange(kind); e.Change != "" {
			e.Kind = EventRows
			p.rows++
			e.Nth = p.rows
			name := p.tables[f.uint(6)]
			e.Schema, e.Table = name.schema, name.table
		}
	}
}

func (p *eventParser) remember(id uint64, name tableName) {
	if p.tables == nil || len(p.tables) >= maxTables {
		p.tables = make(map[uint64]tableName)
	}
	p.tables[id] = name
}

// format reads from the format event whether events carry checksums.
func (p *eventParser) format(event []byte) {
	p.checksum = event[len(event)-1-checksumSize] == 1
	p.payloads = replication.NewBinlogParser()
	p.payloads.SetPayloadDecoderConcurrency(1)
	p.payloads.SetRowsEventDecodeFunc(func(*replication.RowsEvent, []byte) error { return nil })
	if _, err := parseWhole(p.payloads, event); err != nil {
		p.payloads = nil
	}
}

// rotate reads the name of the next file. The first event of a stream is a
// rotate that comes before the format event, so whether it carries a checksum
// only the checksum itself can tell.
func (p *eventParser) rotate(e *Event, event []byte, f *fields) {
	body := event[:len(event)-min(checksumSize, len(event))]
	sum := binary.LittleEndian.Uint32(event[len(body):])
	if crc32.ChecksumIEEE(body) == sum && len(f.b) >= checksumSize {
		f.b = f.b[:len(f.b)-checksumSize]
	}
	pos := f.uint(8)
	if f.err != nil {
		return
	}
	p.file, p.end = string(f.b), pos
	if e.End == 0 { // made up: it says where the stream stands
		e.File, e.Start, e.End = p.file, pos, pos
	}
}

// payload looks into a compressed transaction for the table of its first rows.
func (p *eventParser) payload(e *Event, event []byte) {
	if p.payloads == nil {
		return
	}
	parsed, err := parseWhole(p.payloads, event)
	if err != nil {
		return
	}
	inner, ok := parsed.Event.(*replication.TransactionPayloadEvent)
	if !ok {
		return
	}
	for _, i := range inner.Events {
		if t, ok := i.Event.(*replication.TableMapEvent); ok && e.Table == "" {
			e.Schema, e.Table = string(t.Schema), string(t.Table)
		}
		if c := rowsChange(byte(i.Header.EventType)); c != "" {
			e.Change = c
			return
		}
	}
}

// parseWhole parses a copy: the parser keeps parts of what it is given, and
// the packet's buffer is used again.
func parseWhole(p *replication.BinlogParser, event []byte) (e *replication.BinlogEvent, err error) {
	err = guarded(func() (err error) {
		e, err = p.Parse(bytes.Clone(event))
		return err
	})
	return e, err
}

// taggedGTID reads a GTID with a tag, or gives "".
func taggedGTID(body []byte) (gtid string) {
	err := guarded(func() error {
		e := new(replication.GtidTaggedLogEvent)
		if err := e.Decode(bytes.Clone(body)); err != nil {
			return err
		}
		next, err := e.GTIDNext()
		if err == nil {
			gtid = next.String()
		}
		return err
	})
	if err != nil {
		return ""
	}
	return gtid
}

func rowsChange(kind byte) history.ChangeKind {
	switch kind {
	case 23, 30:
		return history.Insert
	case 24, 31, typePartialRows:
		return history.Update
	case 25, 32:
		return history.Delete
	}
	return ""
}
