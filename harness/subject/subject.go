// Package subject runs what is tested: a schema-migration tool as a child
// process, or in a container.
//
// Read Subject first: it knows how one tool is called and which statements it
// sends. Engine is our own tool; Mutant is our own tool with one known bug put
// back by a patch while it is built. The tools of others are Foreign and have
// a file each. Start runs the command that a subject gives and reports how it
// ended.
package subject

import (
	"context"
	"regexp"
	"slices"
	"time"

	"rowproof/harness/wire"
)

// Outcomes of a migration, as history.Exit holds them.
const (
	Completed   = "completed"    // the table is migrated
	Aborted     = "aborted"      // given up, the original is intact
	Refused     = "refused"      // not begun: nothing was changed
	NeedsPerson = "needs-person" // the tool can't tell what state it left
	Killed      = "killed"       // it ended by a signal
)

// Target is the migration that a subject is asked to do.
type Target struct {
	Host     string
	Port     int
	User     string
	Password string // reaches the subject through its environment only
	Schema   string
	Table    string
	Alter    string        // the text after ALTER TABLE t
	Verify   bool          // with the subject's own verify pass, if it has one
	Resume   bool          // go on from what an earlier run left; for a Resumer
	Postpone bool          // don't swap the tables; for a Resumer, which is killed before long
	Chunk    int           // rows copied at once; 0 leaves it to the subject
	Threads  int           // copies that go on at once; 0 leaves that to it
	Count    bool          // count the rows before the copy and wait for that, if it can
	GTID     bool          // following the binlog by GTIDs, if it can
	LockWait time.Duration // how long to wait for the lock of the cut-over, in whole seconds; 0 leaves it to the subject
	Extra    []string      // further arguments, as they are
}

// Command is how to run a subject once.
type Command struct {
	Argv []string // the program's path and its arguments: no secrets
	Env  []string // NAME=value, added to the harness's own environment
	// Outcome tells what an exit status of the program means, given the last
	// line that it wrote to its standard error.
	Outcome func(status int, message string) string

	boxes *boxes         // it runs in one of these; nil: on this machine
	idle  *regexp.Regexp // lines of its output that tell nothing of how it ended
}

// Tables are the tables that a subject makes; "" is one that it doesn't have,
// or whose name can't be told beforehand.
type Tables struct {
	Shadow string
	Old    string // the original after the swap
	Saved  string // what its progress is saved in, if the user is to drop that
}

// TableNamer is a subject whose tables have names that can be told.
type TableNamer interface {
	// Tables returns the names of the tables that the subject makes for a
	// table.
	Tables(table string) Tables
}

// Resumer is a subject that can go on where a run that died has ended.
type Resumer interface {
	// Resumable returns the subject as one that saves its progress as often
	// as it can. Target.Resume and Target.Postpone have an effect on it.
	Resumable() Subject
	// SavesFirst reports whether it saves its progress before it copies, and
	// not only after some time: then a run can be gone on from that died while
	// it copied.
	SavesFirst() bool
}

// Chunker is a subject that decides by itself how many rows it copies at once.
type Chunker interface {
	// LeastChunk is how many rows that is at least: with a smaller
	// Target.Chunk the subject can't be tested.
	LeastChunk() int
}

// In returns the command as on a host whose clock shows the time of this zone:
// "Asia/Kathmandu". "" leaves the zone of this host.
func (c Command) In(zone string) Command {
	if zone != "" {
		c.Env = append(slices.Clip(c.Env), "TZ="+zone)
	}
	return c
}

// Subject is a schema-migration tool that can be tested.
type Subject interface {
	// Name is how users and reports name the subject: "osc", "mutant:NAME",
	// "gh-ost".
	Name() string
	// Phrasebook maps the steps of a migration to the statements that the
	// subject sends.
	Phrasebook() wire.Phrasebook
	// Command returns how to run the subject on a target. It builds the
	// program if need be, and fails if that can't be done.
	Command(context.Context, Target) (Command, error)
}

// Foreign is a subject that is not ours.
type Foreign interface {
	Subject
	// Version returns the tool's version as itself tells it.
	Version(context.Context) (string, error)
	// PerformanceSchema reports whether the tool wants a server whose
	// performance schema is on.
	PerformanceSchema() bool
}
