package check

import (
	"fmt"

	"rowproof/harness/history"
)

// NothingLeft asks whether the subject removed what it made for itself.
func NothingLeft(r *history.Record) Result {
	var found []Anomaly
	for _, l := range r.Observed.LeftBehind {
		// Nobody tidies up after kill -9, nor does a later run that refuses to
		// touch what it finds. Locks and sessions are another matter: they must
		// die with the connection.
		if afterKill(r) && (l.Kind == "table" || l.Kind == "trigger") {
			continue
		}
		found = append(found, Anomaly{Kind: OrphanTable, Text: fmt.Sprintf("The subject left a %s behind: %s.", l.Kind, l.Name)})
	}
	return finding(found, nil)
}

// afterKill reports whether the subject was killed, and nothing done since.
func afterKill(r *history.Record) bool {
	last := r.Exit.Outcome
	for i := len(r.Earlier) - 1; i >= 0 && last == refused; i-- {
		last = r.Earlier[i].Outcome
	}
	return last == killed
}
