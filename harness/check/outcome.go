package check

import (
	"fmt"
	"strings"

	"rowproof/harness/history"
)

// OutcomeExpected asks whether the migration ended as the scenario says, and
// whether its exit status tells the truth about that. A tool that is not ours
// may always give up, or refuse; and it may complete where ours must stop, for
// triggers, say, see what the binlog does not tell: whether what it left is
// right is for the other checkers.
func OutcomeExpected(r *history.Record) Result {
	if r.Exit.Outcome == "" {
		return finding(nil, []string{"how the subject ended is not recorded"})
	}
	// It may be the plan that it waited for.
	if r.Exit.Outcome == killed && len(unfired(r)) > 0 {
		return finding(nil, []string{"the subject was killed before all planned faults had fired"})
	}
	var found []Anomaly
	gaveUp := r.Exit.Outcome == aborted || r.Exit.Outcome == refused
	mayDiffer := r.Foreign && (gaveUp || r.Expect == aborted && r.Exit.Outcome == completed)
	if r.Expect != "" && r.Exit.Outcome != r.Expect && !mayDiffer {
		text := fmt.Sprintf("The migration should have been %s, and was %s (exit status %d)", r.Expect, r.Exit.Outcome, r.Exit.Code)
		if r.Exit.Message != "" {
			text += ": " + strings.TrimSuffix(r.Exit.Message, ".")
		}
		found = append(found, Anomaly{Kind: UnexpectedOutcome, Text: text + "."})
	}
	switch o := r.Exit.Outcome; {
	case o == completed && r.Exit.Code != 0:
		found = append(found, Anomaly{Kind: UnexpectedOutcome, Text: fmt.Sprintf("The table was swapped, but the exit status is %d.", r.Exit.Code)})
	case gaveUp && r.Exit.Code == 0 && r.Exit.Signal == "":
		found = append(found, Anomaly{Kind: UnexpectedOutcome, Text: fmt.Sprintf("The migration was %s, but the exit status is 0.", o)})
	}
	return finding(found, nil)
}
