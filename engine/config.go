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

	Stream  StreamConfig
	Copy    CopyConfig
	CutOver CutOverConfig

	ProgressEvery time.Duration // between progress lines; 0 means 5 s
	Log           *slog.Logger
}

// StreamConfig says how the binlog is followed.
type StreamConfig struct {
	GTID         bool          // by GTIDs instead of file and position
	ServerID     uint32        // replica id; 0 means one derived from the process
	SentinelWait time.Duration // how long the sentinel's event may take; 0 means an hour
}

// CopyConfig says how rows are copied.
type CopyConfig struct {
	ChunkSize int // rows copied by one statement; 0 means 1000
}

// CutOverConfig says how the tables are swapped.
type CutOverConfig struct {
	Wait  time.Duration // how long one try may keep writers waiting; 0 means 3 s
	Tries int           // 0 means 60
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
	case c.Copy.ChunkSize < 0 || c.Copy.ChunkSize > 100_000:
		return &UsageError{fmt.Sprintf("--chunk-size=%d: want 1 to 100000 rows", c.Copy.ChunkSize)}
	case c.CutOver.Wait < 0 || c.CutOver.Wait > time.Minute:
		return &UsageError{fmt.Sprintf("--cut-over-lock-timeout-seconds=%v: want 1 to 60", c.CutOver.Wait.Seconds())}
	}
	return nil
}

func (c Config) withDefaults() Config {
	setDefault(&c.Verify, VerifyOn)
	setDefault(&c.Copy.ChunkSize, 1000)
	setDefault(&c.CutOver.Wait, 3*time.Second)
	setDefault(&c.CutOver.Tries, 60)
	setDefault(&c.Stream.SentinelWait, time.Hour)
	setDefault(&c.Stream.ServerID, defaultServerID())
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
