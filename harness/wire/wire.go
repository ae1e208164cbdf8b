// Package wire is a MySQL-aware fault proxy: it lets a test hold, cut or
// answer one command, or one binlog event, between a tool and its server.
//
// Read in this order. Listen (proxy.go) opens a Proxy; a conn (conn.go) is
// one client and its server, with two pumps: up.go carries commands, down.go
// carries replies and the binlog stream. A Gate (gate.go) is what a test
// sets. The parsers are packet.go (framing), handshake.go, command.go,
// reply.go with row.go, and event.go; they know nothing of sockets. A
// Phrasebook (phrasebook.go) says which statement of a tool is which step.
//
// Replica (replica.go) is no proxy: it is a client that a source takes for a
// replica, and that gives its ACKs when told.
//
// The proxy never changes what passes, but for the server's greeting: TLS and
// compression are struck out there, because nothing could be read behind
// them. What it cannot read it refuses, with an error to the client and in
// Proxy.Err; it never stalls on it.
package wire

import (
	"fmt"
	"time"

	"rowproof/harness/step"
)

// Role is what a connection is used for.
type Role uint8

// The roles. A connection is SQL until it asks for the binlog stream, and
// Binlog from that command on.
const (
	AnyRole Role = iota // in a Rule: no matter
	SQL
	Binlog
)

func (r Role) String() string {
	switch r {
	case SQL:
		return "sql"
	case Binlog:
		return "binlog"
	default:
		return "any"
	}
}

// Kind is what a command asks of the server.
type Kind string

// The kinds that a test has a use for. All others are carried as KindOther.
const (
	KindQuery    Kind = "query"    // COM_QUERY
	KindPrepare  Kind = "prepare"  // COM_STMT_PREPARE
	KindExecute  Kind = "execute"  // COM_STMT_EXECUTE, with the text of its statement
	KindFetch    Kind = "fetch"    // COM_STMT_FETCH
	KindLongData Kind = "longdata" // COM_STMT_SEND_LONG_DATA: has no reply
	KindClose    Kind = "close"    // COM_STMT_CLOSE: has no reply
	KindInitDB   Kind = "init-db"  // COM_INIT_DB
	KindPing     Kind = "ping"     // COM_PING
	KindReset    Kind = "reset"    // COM_RESET_CONNECTION
	KindUser     Kind = "user"     // COM_CHANGE_USER
	KindRegister Kind = "register" // COM_REGISTER_SLAVE
	KindDump     Kind = "dump"     // COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID
	KindQuit     Kind = "quit"     // COM_QUIT: has no reply
	KindOther    Kind = "other"
)

// Command is one command of a client.
type Command struct {
	Conn         uint64    // the proxy's number of the connection, from 1
	ServerThread uint32    // the server's id of the connection, as in SHOW PROCESSLIST
	Role         Role      //
	Kind         Kind      //
	SQL          string    // the bare statement (of the first 16 MiB); a schema name; where a dump starts
	Step         step.Step // "" where the phrasebook knows none
	// StepOccurrence counts the commands of this step through this proxy,
	// from 1. It is 0 without a step.
	StepOccurrence int
	Sent           time.Time // when it went to the server; zero if it has not yet
}

// Reply is what the server answered to one command. With several results,
// Columns and Rows are those of the first, and the counts are sums.
type Reply struct {
	Err          *ServerError // nil: the server said OK, or sent its rows to the end
	AffectedRows uint64
	RowCount     uint64 // rows sent to the client
	// Columns and Rows are filled for commands with a step, and for those
	// that a gate has matched: at most the first 8 rows, as text, values
	// shortened to 256 bytes. NULL is nil; bytes that are not UTF-8 are given
	// as 0x….
	Columns []string
	Rows    [][]*string
}

// ServerError is an ERR packet.
type ServerError struct {
	Code    uint16
	State   string // SQLSTATE
	Message string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("server error %d (%s): %s", e.Code, e.State, e.Message)
}
