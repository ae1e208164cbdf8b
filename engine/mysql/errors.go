package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// Numbers of server errors that the engine tells apart.
const (
	ErrDuplicateKey    = 1062
	ErrNoSuchTable     = 1146
	ErrLockWaitTimeout = 1205
	ErrDeadlock        = 1213
	ErrOnlineLogFull   = 1799 // innodb_online_alter_log_max_size is too small
	ErrLockNowait      = 3572
)

// ErrorNumber returns the server's error number, or 0 if err is not an
// error of the server.
func ErrorNumber(err error) uint16 {
	var e *mysqldriver.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// ErrorMessage returns the server's own words, or err's if it is not an
// error of the server.
func ErrorMessage(err error) string {
	var e *mysqldriver.MySQLError
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// Retryable reports whether the same transaction may succeed on another
// try: the server rolled it back for a lock, or the connection was lost
// before the transaction could have done anything that a second run would
// not do again. It holds only for transactions that may run twice.
func Retryable(err error) bool {
	switch ErrorNumber(err) {
	case ErrLockWaitTimeout, ErrDeadlock, ErrLockNowait:
		return true
	}
	return ConnectionLost(err)
}

// ConnectionLost reports whether err means that the connection is gone, so
// that the outcome of the statement is not known.
func ConnectionLost(err error) bool {
	switch ErrorNumber(err) {
	case 1053, 1927, 2006, 2013, 3169, 4031: // shutdown, killed, gone away, lost, killed, idle too long
		return true
	}
	var network net.Error
	return errors.Is(err, mysqldriver.ErrInvalidConn) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}
