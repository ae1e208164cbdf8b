package wire

import (
	"errors"
	"fmt"
)

const (
	keepRows = 8 // rows of a reply that are captured

	statusInTransaction = 0x01
	statusAutocommit    = 0x02
	statusMoreResults   = 0x08
	statusCursor        = 0x40
)

// progress is what one packet means for its reply.
type progress uint8

const (
	replyGoesOn  progress = iota
	replyEnds             // this packet is the last one
	replyAsks             // the server waits for the client: a login packet
	replyInfile           // the server waits for the client: the data of LOAD DATA LOCAL
	replyStreams          // this packet is the first of a binlog stream
)

// place is where in its reply a parser stands.
type place uint8

const (
	atStart   place = iota
	atColumns       // column definitions of a result
	atColumnsEOF
	atRows
	atParams // parameter definitions of a prepared statement
	atParamsEOF
	atInfile
)

// replyParser finds the end of one reply. It sees the first packet of every
// message and keeps no rows but the captured ones.
type replyParser struct {
	answer  answer
	caps    uint32
	binary  bool // rows come in the binary protocol
	capture bool

	at      place
	left    uint64 // definitions still to come
	columns uint64 // of a prepared statement, behind its parameters
	results int    // results that have ended
	defs    []column

	reply  Reply
	status uint16 // the server's status flags, as last seen
	stmt   uint32 // of a prepare that went well
}

// packet takes the next packet. full says that the message goes on in the
// next packet, which the parser must not see.
func (p *replyParser) packet(b []byte, full bool) (progress, error) {
	if len(b) == 0 {
		return 0, errors.New("read reply: a packet is empty")
	}
	if b[0] == 0xff {
		p.reply.Err = parseErr(b)
		return replyEnds, nil
	}
	got, err := p.step(b, full)
	if err != nil {
		return 0, fmt.Errorf("read reply: %w", err)
	}
	return got, nil
}

func (p *replyParser) step(b []byte, full bool) (progress, error) {
	switch p.at {
	case atColumns, atParams:
		return p.definition(b)
	case atColumnsEOF:
		if !isEnd(b, full) {
			return 0, fmt.Errorf("want the end of the columns, got 0x%02x", b[0])
		}
		status := eofStatus(b)
		if p.answer == answerPrepare {
			return replyEnds, nil
		}
		if status&statusCursor != 0 { // the rows wait for COM_STMT_FETCH
			return p.endResult(status)
		}
		p.at = atRows
		return replyGoesOn, nil
	case atParamsEOF:
		if !isEnd(b, full) {
			return 0, fmt.Errorf("want the end of the parameters, got 0x%02x", b[0])
		}
		return p.afterParams()
	case atRows:
		return p.row(b, full)
	case atInfile:
		return p.ok(b)
	}
	switch p.answer {
	case answerOne:
		if b[0] == 0 {
			return p.ok(b)
		}
		return replyEnds, nil
	case answerResults:
		return p.result(b)
	case answerPrepare:
		return p.prepared(b)
	case answerColumns, answerRows:
		if isEnd(b, full) {
			p.status = p.endStatus(b)
			return replyEnds, nil
		}
		if p.answer == answerRows {
			p.reply.RowCount++
		}
		return replyGoesOn, nil
	case answerLogin:
		if b[0] == 0 {
			return p.ok(b)
		}
		return replyAsks, nil
	case answerStream:
		return replyStreams, nil
	}
	return 0, errors.New("the command has none")
}

// result reads the first packet of one result.
func (p *replyParser) result(b []byte) (progress, error) {
	switch b[0] {
	case 0:
		return p.ok(b)
	case 0xfb:
		p.at = atInfile
		return replyInfile, nil
	}
	f := fields{b: b}
	p.left = f.lenenc()
	if f.err != nil || p.left == 0 || p.left > 1<<16 {
		return 0, fmt.Errorf("a result of %d columns", p.left)
	}
	p.at = atColumns
	if p.caps&capOptionalMeta != 0 && f.uint(1) == 0 {
		p.left = 0 // the client asked for rows without definitions
		p.at = p.afterColumns()
	}
	return replyGoesOn, nil
}

func (p *replyParser) definition(b []byte) (progress, error) {
	if p.left == 0 {
		return 0, errors.New("more columns than announced")
	}
	p.left--
	if p.capture && p.at == atColumns && p.results == 0 && p.answer == answerResults {
		c, err := parseColumn(b)
		if err != nil {
			return 0, fmt.Errorf("column definition: %w", err)
		}
		p.defs = append(p.defs, c)
		p.reply.Columns = append(p.reply.Columns, c.name)
	}
	if p.left > 0 {
		return replyGoesOn, nil
	}
	if p.at == atParams {
		if p.caps&capDeprecateEOF == 0 {
			p.at = atParamsEOF
			return replyGoesOn, nil
		}
		return p.afterParams()
	}
	if p.answer == answerPrepare && p.caps&capDeprecateEOF != 0 {
		return replyEnds, nil
	}
	p.at = p.afterColumns()
	return replyGoesOn, nil
}

func (p *replyParser) afterColumns() place {
	if p.caps&capDeprecateEOF == 0 {
		return atColumnsEOF
	}
	return atRows
}

func (p *replyParser) row(b []byte, full bool) (progress, error) {
	if isEnd(b, full) {
		return p.endResult(p.endStatus(b))
	}
	p.reply.RowCount++
	if p.capture && p.results == 0 && len(p.reply.Rows) < keepRows && !full {
		row := textRow
		if p.binary {
			row = binaryRow
		}
		p.reply.Rows = append(p.reply.Rows, row(b, p.defs))
	}
	return replyGoesOn, nil
}

// ok reads an OK that is a result of its own.
func (p *replyParser) ok(b []byte) (progress, error) {
	affected, status, err := parseOK(b)
	if err != nil {
		return 0, fmt.Errorf("OK: %w", err)
	}
	p.reply.AffectedRows += affected
	return p.endResult(status)
}

func (p *replyParser) endResult(status uint16) (progress, error) {
	p.status = status
	p.results++
	if status&statusMoreResults == 0 || p.answer != answerResults {
		return replyEnds, nil
	}
	p.at = atStart
	return replyGoesOn, nil
}

// prepared reads the first packet of the reply to a prepare.
func (p *replyParser) prepared(b []byte) (progress, error) {
	if b[0] != 0 {
		return 0, fmt.Errorf("a prepared statement starts with 0x%02x", b[0])
	}
	f := fields{b: b[1:]}
	p.stmt = uint32(f.uint(4))
	p.columns, p.left = f.uint(2), f.uint(2)
	f.skip(1 + 2) // filler, warnings
	if f.err != nil {
		return 0, fmt.Errorf("prepared statement: %w", f.err)
	}
	if p.caps&capOptionalMeta != 0 && len(f.b) > 0 && f.b[0] == 0 {
		return replyEnds, nil
	}
	if p.left == 0 {
		return p.afterParams()
	}
	p.at = atParams
	return replyGoesOn, nil
}

func (p *replyParser) afterParams() (progress, error) {
	if p.columns == 0 {
		return replyEnds, nil
	}
	p.left, p.columns = p.columns, 0
	p.at = atColumns
	return replyGoesOn, nil
}

// isEnd tells an EOF, or the OK that replaces it, from a row: a row that
// starts with 0xfe announces a value of 16 MiB or more.
func isEnd(b []byte, full bool) bool { return b[0] == 0xfe && !full }

// endStatus reads the status of the packet that ends the rows.
func (p *replyParser) endStatus(b []byte) uint16 {
	if p.caps&capDeprecateEOF == 0 {
		return eofStatus(b)
	}
	_, status, err := parseOK(b)
	if err != nil {
		return eofStatus(b)
	}
	return status
}

func eofStatus(b []byte) uint16 {
	f := fields{b: b}
	f.skip(1 + 2) // marker, warnings
	return uint16(f.uint(2))
}
