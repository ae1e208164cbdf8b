package harness

import (
	"fmt"
	"strings"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// Scenario is one bug as a test: given, what goes wrong, what must hold.
type Scenario struct {
	ID  string // as users name it: seam-after-sync
	Bug string // the bug as a user would meet it

	// Reports are public reports of the bug, by short names such as "gh-ost
	// 1030" or "PT-1747"; nil: none was found.
	Reports []string

	// File is the bug report that the scenario was read from, as its run is
	// repeated; "" for one in Go.
	File string

	Cluster topology.Spec
	Table   fixtures.Table
	Alter   string            // the text after ALTER TABLE t
	Load    workload.Load     // writers beside the faults; a reader always runs
	Room    workload.Room     // where random writers may write, if any may
	Limit   time.Duration     // how long one run may take; 0 means 2 minutes
	Chunk   int               // rows that the subject copies at once; 0 means as it does by itself
	Threads int               // copies of the subject that go on at once; 0 means as it does by itself
	Renames map[string]string // columns that the ALTER renames, old name to new
	Zone    string            // time zone of the subject's host, as "Asia/Kathmandu"; "" is this one's
	Counted bool              // the subject counts the rows before it copies, if it can
	ByGTID  bool              // the subject follows the binlog by GTIDs, if it can

	// LockWait is how long the subject may wait for the lock of the cut-over
	// and keep writers waiting by it, in whole seconds; 0 leaves it to the
	// subject.
	LockWait time.Duration

	Faults    fault.Plan
	Postponed bool      // the first run may not swap the tables: it is to be killed, and gone on from
	Then      []Attempt // runs after the first: after a kill, say

	Expect  string     // the outcome of the migration, of its last run: Completed, …
	Guards  check.Kind // the anomaly that the scenario exists for
	Control string     // the mutant that must show that anomaly; a File may lack it

	// What the binlog never tells, a verify pass alone can see; what comes
	// after the pass, or is in no row, it can't. A scenario that both kinds of
	// run can show sets neither.
	OnlyVerified bool // subject and control run with their verify pass alone
	Unverified   bool // the control shows the anomaly with its verify pass too
}

// Outcomes that a scenario can expect.
const (
	Completed = "completed"
	Aborted   = "aborted"
	Refused   = "refused"
)

// limit is how long one run may take before the subject is ended and the
// verdict is Unknown.
func (s Scenario) limit() time.Duration {
	if s.Limit > 0 {
		return s.Limit
	}
	return 2 * time.Minute
}

// argument is how a command line names the scenario.
func (s Scenario) argument() string {
	if s.File == "" {
		return s.ID
	}
	return shellQuote(s.File)
}

func (s Scenario) validate() error {
	switch {
	case s.ID == "":
		return fmt.Errorf("scenario without an ID")
	case s.Bug == "":
		return fmt.Errorf("scenario %s: Bug is empty: say what a user sees", s.ID)
	case s.Table.Name == "":
		return fmt.Errorf("scenario %s: Table is empty", s.ID)
	case s.Alter == "":
		return fmt.Errorf("scenario %s: Alter is empty", s.ID)
	case s.Expect == "" || s.Guards == "":
		return fmt.Errorf("scenario %s: Expect and Guards must be given", s.ID)
	case s.OnlyVerified && s.Unverified:
		return fmt.Errorf("scenario %s: OnlyVerified and Unverified exclude each other", s.ID)
	case s.Room == (workload.Room{}) && s.File == "" && (strings.HasPrefix(s.ID, "seam-") || strings.HasPrefix(s.ID, "copy-")):
		return fmt.Errorf("scenario %s: Room is empty: say where random writers may write, or why they may not", s.ID)
	case s.Room.Open() && s.Load.Writers > 0:
		return fmt.Errorf("scenario %s: Room and Load.Writers exclude each other", s.ID)
	case s.Postponed && !s.resumes():
		return fmt.Errorf("scenario %s: Postponed is set, and no run in Then resumes: the tables would never be swapped", s.ID)
	case s.Control == "" && s.File == "":
		return fmt.Errorf("scenario %s: Control is empty: nothing shows that it can fail", s.ID)
	}
	if s.Chunk < 0 || s.Threads < 0 {
		return fmt.Errorf("scenario %s: Chunk is %d and Threads %d, want 0 or more", s.ID, s.Chunk, s.Threads)
	}
	if s.Room != (workload.Room{}) {
		if err := s.Room.Validate(s.Table); err != nil {
			return fmt.Errorf("scenario %s: %w", s.ID, err)
		}
	}
	if _, err := time.LoadLocation(s.Zone); err != nil {
		return fmt.Errorf("scenario %s: Zone is %q: %w", s.ID, s.Zone, err)
	}
	return nil
}

// RandomLoad names the load of random writers, on a table and with an ALTER
// that have more of both, all of it drawn from the run's seed.
const RandomLoad = "random"

// alone says why no random load may run beside the scenario, "" if one may.
func (s Scenario) alone() string {
	switch {
	case s.Room.Open():
		return ""
	case s.Room.Alone != "":
		return s.Room.Alone
	}
	return "it has no room for a random load"
}

// underRandomLoad returns the scenario as a seed draws it.
func (s Scenario) underRandomLoad(seed uint64) Scenario {
	drawn := workload.NewRandom(seed, s.Table, s.Room)
	s.Table, s.Load = drawn.Table, drawn.Load
	s.Alter += ", " + drawn.Alter
	return s
}
