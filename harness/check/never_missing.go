package check

import (
	"fmt"

	"rowproof/harness/history"
)

// noSuchTable is the server's error number for a table that does not exist.
const noSuchTable = 1146

// harmless are errors that a read may meet while a table is altered and that
// say nothing about the data: lock waits, deadlocks, a changed definition, a
// statement to be prepared again, a server that goes down, a killed query.
var harmless = [...]uint16{1205, 1213, 1412, 1615, 1053, 1317, 3024}

// NeverMissing asks whether every client found the table at all times.
func NeverMissing(r *history.Record) Result {
	var found []Anomaly
	var unknown []string
	for _, op := range r.Ops {
		switch {
		case op.Outcome == history.OK:
		case op.Code == noSuchTable:
			found = append(found, Anomaly{Kind: MissingTable, Text: fmt.Sprintf(
				"%s was told at %s that the table does not exist (error %d, operation %d, %s).", op.Client, ms(op.Return), op.Code, op.ID, op.Kind)})
		case op.Kind == readKind && op.Outcome == history.Failed && op.Code != 0 && !isHarmless(op.Code):
			unknown = append(unknown, fmt.Sprintf("%s could not read at %s: error %d: %s", op.Client, ms(op.Return), op.Code, op.Error))
		}
	}
	return finding(found, unknown)
}

const readKind = "read"

func isHarmless(code uint16) bool {
	for _, c := range harmless {
		if c == code {
			return true
		}
	}
	return false
}
