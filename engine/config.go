package engine

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"rowproof/engine/mysql"
)

// Config says what to migrate and how. Server, Table and Alter are needed;
// zero values elsewhere are usable.
type Config struct {
	Server mysql.Config // Server.Schema is the table's schema
	Table  string
	Alter  string // what follows ALTER TABLE t

	Execute bool   // false: check everything, change nothing
	Verify  Verify // compare the tables before the cut-over
	DropOld bool   // drop the old table at the end instead of keeping it
	GTID    bool   // follow the binlog by GTIDs instead of file and position

	ChunkSize     int           // rows copied by one statement; 0 means 1000
	CutOverWait   time.Duration // how long one cut-over may keep writers waiting; 0 means 3 s
	CutOverTries  int           // 0 means 60
	SentinelWait  time.Duration // how long the sentinel's event may take; 0 means an hour
	ServerID      uint32        // replica id for the binlog; 0 means one derived from the process
	ProgressEvery time.Duration // between progress lines; 0 means 5 s

	Log *slog.Logger
}

// Verify says whether original and shadow are compared before the cut-over.
type Verify string

// The pass is on unless it is turned off.
const (
	VerifyOn  Verify = "on"
	VerifyOff Verify = "off"
)

// UsageError is a Config that can't be run, in words of the command's flags.
type UsageError struct{ Problem string }

func (e *UsageError) Error() string { return e.Problem }

// Validate reports the first field that is missing or wrong.
func (c Config) Validate() error {
	switch {
	case c.Server.Schema == "":
		return &UsageError{"--database is missing: name the table's schema"}
	case c.Table == "":
		return &UsageError{"--table is missing: name the table to migrate"}
	case strings.TrimSpace(c.Alter) == "":
		return &UsageError{"--alter is missing: give what follows ALTER TABLE t, such as \"ADD COLUMN note TEXT\""}
	case c.Verify != "" && c.Verify != VerifyOn && c.Verify != VerifyOff:
		return &UsageError{fmt.Sprintf("--verify=%s: want on or off", c.Verify)}
	case c.ChunkSize < 0 || c.ChunkSize > 100_000:
		return &UsageError{fmt.Sprintf("--chunk-size=%d: want 1 to 100000 rows", c.ChunkSize)}
	case c.CutOverWait < 0 || c.CutOverWait > time.Minute:
		return &UsageError{fmt.Sprintf("--cut-over-lock-timeout-seconds=%v: want 1 to 60", c.CutOverWait.Seconds())}
	}
	return nil
}

func (c Config) withDefaults() Config {
	setDefault(&c.Verify, VerifyOn)
	setDefault(&c.ChunkSize, 1000)
	setDefault(&c.CutOverWait, 3*time.Second)
	setDefault(&c.CutOverTries, 60)
	setDefault(&c.SentinelWait, time.Hour)
	setDefault(&c.ServerID, defaultServerID())
	setDefault(&c.ProgressEvery, 5*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
