package history

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// EventsEnv names the environment variable that holds the number of an open
// file descriptor. A suite that finds it writes its events there.
const EventsEnv = "ROWPROOF_EVENTS"

// EventKind says what an Event tells.
type EventKind string

// The kinds of events. The fields of Event that each one sets are given
// behind it; all but the first three kinds name their run: Scenario, Subject,
// Verify, Load, Dir.
const (
	EventScenario    EventKind = "scenario"    // a scenario exists: Scenario, Test, Bug, Guards, Control, Reports, Alone
	EventPhase       EventKind = "phase"       // the suite does something for all runs: Phase
	EventEnvironment EventKind = "environment" // the suite can't run on this machine: Error
	EventRunStart    EventKind = "run-start"   // a run began
	EventRunPhase    EventKind = "run-phase"   // a run reached a phase: Phase
	EventRunEnd      EventKind = "run-end"     // a run was judged: Verdict, Anomaly, Expected, Seconds
	EventKept        EventKind = "kept"        // all runs ended, and this one's cluster is left up: Kept, Error
)

// Event is one line of progress: what a running suite tells whoever started
// it. Events are for watching only; results are read from run directories.
type Event struct {
	Kind EventKind `json:"kind"`

	Scenario string `json:"scenario,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Verify   bool   `json:"verify,omitempty"`
	Load     string `json:"load,omitempty"`
	Dir      string `json:"dir,omitempty"` // the run directory

	Phase    string  `json:"phase,omitempty"`    // prose: "starting the cluster"
	Verdict  string  `json:"verdict,omitempty"`  // Valid, Invalid, Unknown
	Anomaly  string  `json:"anomaly,omitempty"`  // the first anomaly of a run that is not Valid
	Expected bool    `json:"expected,omitempty"` // the run ended as the scenario demands
	Seconds  float64 `json:"seconds,omitempty"`
	Error    string  `json:"error,omitempty"` // one line

	Kept *Kept `json:"kept,omitempty"`

	Test    string `json:"test,omitempty"`    // the Go test function
	Bug     string `json:"bug,omitempty"`     // the bug in a user's words
	Guards  string `json:"guards,omitempty"`  // the anomaly that the scenario exists for
	Control string `json:"control,omitempty"` // the scenario's control: "mutant:NAME"
	Alone   string `json:"alone,omitempty"`   // why no random load may run beside it

	Reports []string `json:"reports,omitempty"` // public reports of the bug, by short names
}

// Kept is a cluster that is left up for a look.
type Kept struct {
	// Logins is a directory with USER.cnf for mysql's --defaults-file, and
	// USER.env for docker's --env-file. It goes with the cluster.
	Logins  string       `json:"logins"`
	Users   []string     `json:"users"`
	Schema  string       `json:"schema"` // of the migrated table
	Servers []KeptServer `json:"servers"`
}

// KeptServer is one server of a cluster that is left up.
type KeptServer struct {
	Name      string `json:"name"`
	Addr      string `json:"addr"` // host:port
	Version   string `json:"version"`
	Container string `json:"container"` // its ID
	Socket    string `json:"socket"`    // of the server, inside the container
}

// Events writes events as JSON lines. The zero value, and a nil *Events,
// discard them. It is safe for use by many goroutines.
type Events struct {
	mu sync.Mutex
	w  io.Writer
}

// NewEvents returns a writer of events to w.
func NewEvents(w io.Writer) *Events { return &Events{w: w} }

// OpenEvents returns the writer that the environment asks for: one that
// discards everything if EventsEnv is not set. Call it once per process: it
// takes the descriptor over.
func OpenEvents() (*Events, error) {
	value := os.Getenv(EventsEnv)
	if value == "" {
		return NewEvents(io.Discard), nil
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("open %s: %q is no number of an open file descriptor", EventsEnv, value)
	}
	// A subject that outlives us would otherwise keep the pipe open, and the
	// reader would wait for its end.
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), EventsEnv)
	if _, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("open %s: %w", EventsEnv, err)
	}
	return NewEvents(f), nil
}

// Send writes one event. An event that can't be written is dropped: the
// watcher is gone, and the run must not suffer from that.
func (e *Events) Send(ev Event) {
	if e == nil || e.w == nil {
		return
	}
	line, err := json.Marshal(ev)
	if err != nil { // only a NaN in Seconds could do that
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = e.w.Write(append(line, '\n'))
}

// Seconds returns a duration as an event and a report carry it.
func Seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
