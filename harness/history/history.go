// Package history holds what happened in one run, as data.
//
// Read Record first: everything else hangs on it. The run directory written
// by Save is the border between running and judging, so a stored run can be
// judged again, or drawn, by a newer version of the checkers. The package
// imports nothing of the project.
package history

import "time"

// FormatVersion is the version of the run directory's layout. It grows when
// a reader of the old layout would misread the new one.
const FormatVersion = 1

// MutantPrefix begins the name of a subject that is our engine with a bug put
// back: "mutant:NAME".
const MutantPrefix = "mutant:"

// Record is one run of one scenario against one subject.
type Record struct {
	Format   int       `json:"format"`            // FormatVersion
	Scenario string    `json:"scenario"`          // the scenario's ID
	Subject  string    `json:"subject"`           // "osc", "mutant:NAME", …
	Verify   bool      `json:"verify"`            // the subject's own verify pass was on
	Control  bool      `json:"control"`           // the subject is the scenario's control
	Load     string    `json:"load,omitempty"`    // "random": random writers, with a random table and ALTER; "" is the scenario's own
	Foreign  bool      `json:"foreign,omitempty"` // the subject is a tool that is not ours
	Version  string    `json:"version,omitempty"` // of that tool, as itself tells it
	Flags    []string  `json:"flags,omitempty"`   // arguments that the user gave for it
	Missing  []string  `json:"missing,omitempty"` // what the scenario needs and the subject lacks, steps above all: then it did not run
	Seed     uint64    `json:"seed"`              // the source of all randomness of the run
	Started  time.Time `json:"started"`           // wall clock; every other time is relative to it

	Bug    string `json:"bug"`    // the bug in a user's words: the scenario's comment
	Repeat string `json:"repeat"` // the one command that repeats this run
	Table  Table  `json:"table"`  // what is migrated
	Expect string `json:"expect"` // the outcome that the scenario asks for
	Guards string `json:"guards"` // the anomaly that the scenario exists for

	// Unproven says that the scenario has no control: nothing shows that it
	// can find its bug.
	Unproven bool `json:"unproven,omitempty"`

	Servers []Server `json:"servers"`

	Planned  []string     `json:"planned"`           // names of the faults that must fire
	Phases   []Phase      `json:"phases"`            // what the harness did, one after the other
	Ops      []Op         `json:"-"`                 // operations.jsonl
	Marks    []Mark       `json:"-"`                 // marks.jsonl
	Exit     Exit         `json:"exit"`              // of the last run of the subject
	Earlier  []Exit       `json:"earlier,omitempty"` // of those before it, in order
	Observed Observations `json:"-"`                 // observed.json
}

// Phase is one part of the time that a run took.
type Phase struct {
	Name    string  `json:"name"` // prose: "starting the cluster"
	Seconds float64 `json:"seconds"`
}

// Table is the migrated table and what is done to it.
type Table struct {
	Schema  string            `json:"schema"`
	Name    string            `json:"name"`
	Key     []string          `json:"key"`     // primary key columns, in key order
	Alter   string            `json:"alter"`   // the text after ALTER TABLE t
	Renames map[string]string `json:"renames"` // old column name -> new, only where they differ
	Initial []Row             `json:"initial"` // rows before the run, at least those that an Op touches
	Rows    int64             `json:"rows"`    // number of rows before the run
}

// Server is one server of the cluster.
type Server struct {
	Name    string            `json:"name"`    // "source", "replica-1"
	Version string            `json:"version"` // @@version
	Options map[string]string `json:"options"` // the settings a reader needs to repeat the run
}

// Row is a row as column -> value in MySQL's text form. A column that is
// absent was not read or not set by the statement; NULL is a nil pointer.
type Row map[string]*string

// Text returns a value for a Row.
func Text(s string) *string { return &s }

// Key is the text of a row's primary key: the column values in key order,
// joined by ",". It names a row in a report; servers never compare it.
type Key string

// Outcome is what the client that issued an operation knows of it.
type Outcome string

// The outcomes of an operation.
const (
	OK      Outcome = "ok"      // the server acknowledged it
	Failed  Outcome = "failed"  // the server refused it: it has no effect
	Unknown Outcome = "unknown" // the reply was lost: it may or may not have happened
)

// Op is one operation of a client: one transaction, or one read.
type Op struct {
	ID      int           `json:"id"`
	Client  string        `json:"client"` // "writer-1", "reader-1", "fault"
	Kind    string        `json:"kind"`   // insert, update, delete, move, transaction, read
	SQL     []string      `json:"sql"`    // its statements in order
	Changes []Change      `json:"changes,omitempty"`
	Saw     map[Key]Row   `json:"saw,omitempty"` // rows that a read returned; nil: it found none
	Invoke  time.Duration `json:"invoke"`        // since Record.Started
	Return  time.Duration `json:"return"`        // since Record.Started; 0 if it never returned
	Outcome Outcome       `json:"outcome"`
	Error   string        `json:"error,omitempty"`
	Code    uint16        `json:"code,omitempty"` // the server's error number
}

// ChangeKind is what a write does to one row.
type ChangeKind string

// The kinds of a change. A statement that moves a row to another key is a
// Move: the row under Key goes, and the same row appears under NewKey.
const (
	Insert ChangeKind = "insert"
	Update ChangeKind = "update"
	Delete ChangeKind = "delete"
	Move   ChangeKind = "move"
)

// Change is the effect on one row that the client intended, for the case
// that its transaction commits.
type Change struct {
	Kind   ChangeKind       `json:"kind"`
	Key    Key              `json:"key"`
	NewKey Key              `json:"new_key,omitempty"` // Move only
	Set    Row              `json:"set,omitempty"`     // columns written, with their new values
	Add    map[string]int64 `json:"add,omitempty"`     // columns incremented: many clients may do so at once
}

// Mark is one thing that happened and that is not an operation of a client:
// a step of the subject, a fault, a change of a server's state.
type Mark struct {
	At   time.Duration     `json:"at"`   // since Record.Started
	Lane string            `json:"lane"` // subject, subject-2, stream, fault, source, replica-1, harness
	Name string            `json:"name"` // one of the Mark… names
	Step string            `json:"step,omitempty"`
	Text string            `json:"text,omitempty"` // a statement, or prose
	Data map[string]string `json:"data,omitempty"`
}

// Names of marks. The keys of Data are given behind each; marks of the wire
// also have conn, thread (the server's number of the connection) and, with a
// step, occurrence.
const (
	MarkStepSent     = "step-sent"     // the subject sent a statement of a step
	MarkStepReplied  = "step-replied"  // the server answered it: columns and rows (JSON, the first few), row_count, affected, error
	MarkFaultFired   = "fault-fired"   // a planned fault took effect: fault, and label if it goes on
	MarkFaultEnded   = "fault-ended"   // and ended: label
	MarkUnapplied    = "unapplied"     // the subject was held and did not apply a change meanwhile
	MarkHeld         = "held"          // a gate holds the subject: gate
	MarkReleased     = "released"      // and lets it go: gate
	MarkBinlogged    = "binlogged"     // a transaction is in the binlog: op, gtid, file, pos, visible ("no")
	MarkVisible      = "visible"       // a row became visible to readers: op, key
	MarkStreamEvent  = "stream-event"  // an event passed to the subject: kind, file, start, pos, gtid, table, change
	MarkServer       = "server"        // a server or replica thread started or stopped: what
	MarkSubjectStart = "subject-start" // the child process runs: zone, if it is not this host's
	MarkSubjectExit  = "subject-exit"  // it ended: outcome, code, signal
)

// Exit is how the subject ended.
type Exit struct {
	Outcome string        `json:"outcome"` // completed, aborted, refused, killed
	Code    int           `json:"code"`
	Signal  string        `json:"signal,omitempty"`
	At      time.Duration `json:"at"`
	Message string        `json:"message,omitempty"`  // the last line it wrote to stderr
	PeakRSS int64         `json:"peak_rss,omitempty"` // most memory it held at once, in bytes; 0: not known
}

// Observations is what the harness read from the servers after the run.
type Observations struct {
	Comparison Comparison    `json:"comparison"`
	Schema     []SchemaDiff  `json:"schema"`
	Replicas   []ReplicaDiff `json:"replicas"`
	LeftBehind []Leftover    `json:"left_behind"`
	Final      map[Key]Row   `json:"final"` // final rows of every key that an Op touches; absent = no such row
	Binlog     []BinlogRow   `json:"binlog"`
	Errors     []string      `json:"errors,omitempty"` // what could not be observed: makes the run Unknown
}

// Comparison is the final table against its oracle: the old table taken
// through MySQL's own ALTER.
type Comparison struct {
	Done      bool      `json:"done"`    // false: there was nothing to compare (an aborted migration)
	Against   string    `json:"against"` // what the table was compared with, in prose
	Rows      int64     `json:"rows"`    // rows of the oracle
	FinalRows int64     `json:"final_rows"`
	Chunks    int       `json:"chunks"`
	Excluded  []Key     `json:"excluded,omitempty"` // keys written after the swap, judged by the ledger alone
	Diffs     []RowDiff `json:"diffs"`
	Truncated bool      `json:"truncated"` // there are more differences than Diffs holds
}

// RowDiff is one key whose row differs. A nil side has no such row.
type RowDiff struct {
	Key     Key               `json:"key"`
	Want    Row               `json:"want"`               // the oracle
	Got     Row               `json:"got"`                // the final table
	Columns []string          `json:"columns,omitempty"`  // columns that differ
	WantHex map[string]string `json:"want_hex,omitempty"` // bytes, for the columns that differ
	GotHex  map[string]string `json:"got_hex,omitempty"`
	Count   int64             `json:"count,omitempty"` // how often the row stands in the final table, if more than once
}

// SchemaDiff is one difference between two table definitions.
type SchemaDiff struct {
	Object string `json:"object"` // column a, index k, option AUTO_INCREMENT, …
	Want   string `json:"want"`
	Got    string `json:"got"`
}

// ReplicaDiff is one difference between a replica's table and the source's.
type ReplicaDiff struct {
	Server string   `json:"server"`
	Row    *RowDiff `json:"row,omitempty"`
	Text   string   `json:"text,omitempty"` // a difference that is not one row's
}

// Leftover is something that the subject made and did not remove.
type Leftover struct {
	Kind string `json:"kind"` // table, trigger, lock, session, process
	Name string `json:"name"`
}

// BinlogRow is one row event of the migrated table in the source's binlog,
// or, with Kind "ddl", one statement that names it.
type BinlogRow struct {
	Kind   string    `json:"kind"` // insert, update, delete, ddl
	Table  string    `json:"table"`
	Key    Key       `json:"key,omitempty"`
	NewKey Key       `json:"new_key,omitempty"` // update: the key afterwards
	GTID   string    `json:"gtid,omitempty"`
	File   string    `json:"file"`
	Start  uint64    `json:"start"` // position where its transaction starts in File
	End    uint64    `json:"end"`   // position after its transaction's last event
	SQL    string    `json:"sql,omitempty"`
	Commit time.Time `json:"commit"` // when the source wrote it to its binlog
}
