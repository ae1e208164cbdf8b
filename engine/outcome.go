package engine

import (
	"errors"
	"time"

	"rowproof/engine/cutover"
	"rowproof/engine/ddl"
)

// Summary tells what a migration did.
type Summary struct {
	Executed  bool          `json:"executed"` // false: only checked
	Table     string        `json:"table"`
	Instant   bool          `json:"instant"`             // the server did it with ALGORITHM=INSTANT, no row was copied
	OldTable  string        `json:"old_table,omitempty"` // empty if it was dropped
	Rows      int64         `json:"rows_copied"`
	Chunks    int           `json:"chunks"`
	Changes   int64         `json:"changes_applied"`
	Verified  bool          `json:"verified"` // false: the verify pass was off
	Tries     int           `json:"cut_over_tries"`
	Locked    time.Duration `json:"writers_waited_ns"` // the cut-over that succeeded, from lock request to swap
	Elapsed   time.Duration `json:"elapsed_ns"`
	Attached  string        `json:"attached_at,omitempty"` // binlog position
	CleanedUp bool          `json:"cleaned_up"`
}

// Outcome says how a migration ended, as a caller acts on it.
type Outcome int

// The outcomes, with the numbers that the osc command exits with.
const (
	Completed   Outcome = 0
	Aborted     Outcome = 1 // the original is intact
	Usage       Outcome = 2 // nothing was done
	Refused     Outcome = 3 // nothing was done
	NeedsPerson Outcome = 4 // the error says what was found
)

// errNotCleanedUp means that the migration is done and that tables which it
// made for itself may be left.
var errNotCleanedUp = errors.New("the table is migrated, but the clean-up failed")

// OutcomeOf tells which outcome an error of Run is.
func OutcomeOf(err error) Outcome {
	var usage *UsageError
	var refusal *ddl.Refusal
	switch {
	case err == nil:
		return Completed
	case errors.As(err, &usage):
		return Usage
	case errors.Is(err, cutover.ErrUndecided), errors.Is(err, errNotCleanedUp):
		return NeedsPerson
	case errors.As(err, &refusal):
		return Refused
	}
	return Aborted
}
