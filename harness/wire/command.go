package wire

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// answer is the shape of a command's reply.
type answer uint8

const (
	answerNone    answer = iota // the server says nothing
	answerOne                   // one packet, whatever it is
	answerResults               // OK, ERR, or one or more result sets
	answerPrepare               // a statement id and its columns
	answerColumns               // column definitions up to an EOF
	answerRows                  // rows up to an EOF
	answerLogin                 // a new authentication
	answerStream                // the binlog
)

// request is a command as it was parsed.
type request struct {
	kind   Kind
	sql    string
	stmt   uint32 // statement id of execute, fetch, close
	server uint32 // of a dump: the client's server id
	answer answer
}

// Command bytes.
const (
	comQuit        = 0x01
	comInitDB      = 0x02
	comQuery       = 0x03
	comFieldList   = 0x04
	comProcessInfo = 0x0a
	comPing        = 0x0e
	comChangeUser  = 0x11
	comDump        = 0x12
	comRegister    = 0x15
	comPrepare     = 0x16
	comExecute     = 0x17
	comLongData    = 0x18
	comClose       = 0x19
	comFetch       = 0x1c
	comDumpGTID    = 0x1e
	comReset       = 0x1f
)

// parseCommand reads the first packet of a command.
func parseCommand(b []byte, caps uint32) (request, error) {
	if len(b) == 0 {
		return request{}, errors.New("read command: it is empty")
	}
	f := fields{b: b[1:]}
	var q request
	switch b[0] {
	case comQuit:
		q = request{kind: KindQuit}
	case comInitDB:
		q = request{kind: KindInitDB, sql: string(f.b), answer: answerOne}
	case comQuery:
		if caps&capQueryAttributes != 0 {
			skipAttributes(&f)
		}
		q = request{kind: KindQuery, sql: string(f.b), answer: answerResults}
	case comFieldList:
		q = request{kind: KindOther, answer: answerColumns}
	case comProcessInfo:
		q = request{kind: KindOther, answer: answerResults}
	case comPing:
		q = request{kind: KindPing, answer: answerOne}
	case comChangeUser:
		q = request{kind: KindUser, answer: answerLogin}
	case comDump:
		q = request{kind: KindDump, answer: answerStream}
		q.sql, q.server = dumpStart(&f)
	case comDumpGTID:
		q = request{kind: KindDump, answer: answerStream}
		q.sql, q.server = dumpSet(&f)
	case comRegister:
		q = request{kind: KindRegister, answer: answerOne}
	case comPrepare:
		q = request{kind: KindPrepare, sql: string(f.b), answer: answerPrepare}
	case comExecute:
		q = request{kind: KindExecute, stmt: uint32(f.uint(4)), answer: answerResults}
	case comLongData:
		q = request{kind: KindLongData, stmt: uint32(f.uint(4))}
	case comClose:
		q = request{kind: KindClose, stmt: uint32(f.uint(4))}
	case comFetch:
		q = request{kind: KindFetch, stmt: uint32(f.uint(4)), answer: answerRows}
	case comReset:
		q = request{kind: KindReset, answer: answerOne}
	case 0x05, 0x06, 0x07, 0x08, 0x09, 0x0c, 0x0d, 0x1a, 0x1b:
		// create and drop schema, refresh, shutdown, statistics, kill, debug,
		// reset of a statement, set option
		q = request{kind: KindOther, answer: answerOne}
	default:
		return request{}, fmt.Errorf("read command: 0x%02x is not known to the proxy", b[0])
	}
	if f.err != nil {
		return request{}, fmt.Errorf("read command 0x%02x: %w", b[0], f.err)
	}
	return q, nil
}

// skipAttributes steps over the query attributes that precede the text.
func skipAttributes(f *fields) {
	count := f.lenenc()
	f.lenenc() // sets of attributes: always one
	if count == 0 || f.err != nil {
		return
	}
	if count > uint64(len(f.b)) { // each takes a byte at the least
		f.take(-1)
		return
	}
	nulls := f.take(int(count+7) / 8)
	if f.uint(1) != 1 && f.err == nil {
		f.err = errors.New("query attributes without types")
	}
	types := make([]byte, count)
	for i := range types {
		types[i] = byte(f.uint(2)) // the high byte says unsigned
		f.bytes()                  // name
	}
	for i, t := range types {
		if f.err != nil {
			return
		}
		if nulls[i/8]&(1<<(i%8)) == 0 {
			skipValue(f, t)
		}
	}
}

// skipValue steps over one value of the binary protocol.
func skipValue(f *fields, t byte) {
	switch n, fixed := binarySize(t); {
	case fixed:
		f.skip(n)
	case isTime(t):
		f.skip(int(f.uint(1)))
	default:
		f.bytes()
	}
}

// dumpStart says where a COM_BINLOG_DUMP starts, and for which server id.
func dumpStart(f *fields) (string, uint32) {
	pos := f.uint(4)
	f.skip(2) // flags
	server := uint32(f.uint(4))
	return fmt.Sprintf("binlog dump from %s:%d", f.b, pos), server
}

// dumpSet says which transactions a COM_BINLOG_DUMP_GTID leaves out, and for
// which server id it is.
func dumpSet(f *fields) (string, uint32) {
	f.skip(2) // flags
	server := uint32(f.uint(4))
	name := f.take(int(min(f.uint(4), fullPayload)))
	pos := f.uint(8)
	data := f.take(int(min(f.uint(4), fullPayload)))
	if f.err != nil {
		// Some clients leave the set out if the flags say so.
		f.err = nil
		return fmt.Sprintf("binlog dump from %s:%d", name, pos), server
	}
	return "binlog dump without GTIDs " + gtidSet(data), server
}

// gtidSet gives the text of a set as a dump command carries it, or its size
// where its encoding is not known.
func gtidSet(data []byte) string {
	var set *mysql.MysqlGTIDSet
	err := guarded(func() (err error) {
		set, err = mysql.DecodeMysqlGTIDSet(data)
		return err
	})
	if err == nil {
		return set.String()
	}
	return fmt.Sprintf("(%d bytes)", len(data))
}

// guarded calls one of go-mysql's decoders, which trust what a server wrote:
// they run past the end of what nobody but a fuzzer writes.
func guarded(decode func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decode: %v", r)
		}
	}()
	return decode()
}
