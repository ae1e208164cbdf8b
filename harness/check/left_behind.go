package check

import (
	"fmt"

	"rowproof/harness/history"
)

// NothingLeft asks whether the subject removed what it made for itself.
func NothingLeft(r *history.Record) Result {
	var found []Anomaly
	for _, l := range r.Observed.LeftBehind {
		// Nobody tidies up after kill -9. Locks and sessions are another
		// matter: they must die with the connection.
		if r.Exit.Outcome == killed && (l.Kind == "table" || l.Kind == "trigger") {
			continue
		}
		found = append(found, Anomaly{Kind: OrphanTable, Text: fmt.Sprintf("The subject left a %s behind: %s.", l.Kind, l.Name)})
	}
	return finding(found, nil)
}
