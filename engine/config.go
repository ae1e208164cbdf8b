package engine

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"rowproof/engine/mysql"
	"rowproof/engine/throttle"
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

	// AttemptInstant lets the server run the ALTER by itself where it can do
	// so at once, without touching a row.
	AttemptInstant bool

	Checkpoint CheckpointConfig

	Stream  StreamConfig
	Copy    CopyConfig
	CutOver CutOverConfig

	Throttle ThrottleConfig
	Operator OperatorConfig
	Log      *slog.Logger
}

// StreamConfig says how the binlog is followed.
type StreamConfig struct {
	GTID         bool          // by GTIDs instead of file and position
	ServerID     uint32        // replica id; 0 means one derived from the process
	SentinelWait time.Duration // how long the sentinel's event may take; 0 means an hour
}

// CopyConfig says how rows are copied.
type CopyConfig struct {
	ChunkSize int // rows copied by one statement; 0 fits it to the time a chunk takes
	Threads   int // statements that copy at once; 0 means 2

	DeferIndexes DeferIndexes // "" means DeferAuto
}

// DeferIndexes says when plain secondary indexes are built: with each row, or
// in one pass after the copy, which is faster. A replica builds them too, and
// applies nothing else meanwhile.
type DeferIndexes string

// DeferAuto builds them after the copy where no replica would lag by it.
const (
	DeferAuto DeferIndexes = "auto"
	DeferOn   DeferIndexes = "on"
	DeferOff  DeferIndexes = "off"
)

// CheckpointConfig says how a run can be taken up by a later one.
type CheckpointConfig struct {
	Every  time.Duration // between two checkpoints; 0 means 5 s
	Keep   bool          // leave shadow and checkpoint also when the run is interrupted or fails
	Resume bool          // go on from the checkpoint of an earlier run; implies Keep
}

// CutOverConfig says how the tables are swapped.
type CutOverConfig struct {
	Wait  time.Duration // how long one try may keep writers waiting; 0 means 3 s
	Tries int           // 0 means 60

	// MaxPause bounds the pause between two tries, which doubles from a
	// second on; 0 means 30 s.
	MaxPause time.Duration

	// PostponeFile, if set, is made when the migration starts. While it is
	// there, the tables are not swapped.
	PostponeFile string
}

// ThrottleConfig says when the copy waits for the application.
type ThrottleConfig struct {
	throttle.Limits
	Replicas []string // host or host:port of those that must not lag
}

// OperatorConfig says who follows and steers the migration.
type OperatorConfig struct {
	// Socket is the path of the control socket. Empty means
	// control.DefaultPath, NoSocket none.
	Socket string

	Every    time.Duration    // between two calls of Progress; 0 means 5 s
	Progress func(Status)     // nil: a log line
	Asked    <-chan os.Signal // each makes a call of Answer
	Answer   func(Status)
}

// NoSocket is the Socket of a migration that nobody can steer.
const NoSocket = "off"

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
	case !slices.Contains([]DeferIndexes{"", DeferAuto, DeferOn, DeferOff}, c.Copy.DeferIndexes):
		return &UsageError{fmt.Sprintf("--defer-secondary-indexes=%s: want auto, on or off", c.Copy.DeferIndexes)}
	case c.Copy.ChunkSize < 0 || c.Copy.ChunkSize > 100_000:
		return &UsageError{fmt.Sprintf("--chunk-size=%d: want 1 to 100000 rows, or 0", c.Copy.ChunkSize)}
	case c.Copy.Threads < 0 || c.Copy.Threads > 16:
		return &UsageError{fmt.Sprintf("--threads=%d: want 1 to 16", c.Copy.Threads)}
	case c.Checkpoint.Every < 0 || c.Checkpoint.Every > time.Hour:
		return &UsageError{fmt.Sprintf("--checkpoint-seconds=%v: want more than 0, up to 3600", c.Checkpoint.Every.Seconds())}
	case c.CutOver.Wait < 0 || c.CutOver.Wait > time.Minute:
		return &UsageError{fmt.Sprintf("--cut-over-lock-timeout-seconds=%v: want 1 to 60", c.CutOver.Wait.Seconds())}
	case c.CutOver.MaxPause < 0:
		return &UsageError{fmt.Sprintf("--exponential-backoff-max-interval=%v: want 1 or more", c.CutOver.MaxPause.Seconds())}
	}
	if err := c.Throttle.Validate(); err != nil {
		return &UsageError{"--" + err.Error()}
	}
	if err := c.Server.TLS.Validate(); err != nil {
		return &UsageError{err.Error()}
	}
	_, err := c.replicas()
	return err
}

func (c Config) withDefaults() Config {
	setDefault(&c.Verify, VerifyOn)
	setDefault(&c.Copy.Threads, 2)
	setDefault(&c.Copy.DeferIndexes, DeferAuto)
	setDefault(&c.Checkpoint.Every, 5*time.Second)
	setDefault(&c.CutOver.Wait, 3*time.Second)
	setDefault(&c.CutOver.Tries, 60)
	setDefault(&c.Stream.SentinelWait, time.Hour)
	setDefault(&c.Stream.ServerID, defaultServerID())
	setDefault(&c.CutOver.MaxPause, 30*time.Second)
	setDefault(&c.Operator.Every, 5*time.Second)
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
