package check

import (
	"fmt"

	"rowproof/harness/history"
)

const renameStep = "rename"

// WritesTaken asks whether the table took what it takes by its own definition
// until it was swapped. A tool's trigger that writes to a narrower shadow
// fails the application's write.
func WritesTaken(r *history.Record) Result {
	swap := r.Exit.At
	for _, m := range r.Marks {
		if m.Name == history.MarkStepSent && m.Step == renameStep {
			swap = m.At
			break
		}
	}
	var found []Anomaly
	for _, op := range r.Ops {
		if op.Kind != readKind && op.Outcome == history.Failed && history.Misfit(op.Code) && op.Return < swap {
			found = append(found, Anomaly{Kind: RefusedWrite, Text: fmt.Sprintf(
				"%s could not write at %s what the table takes by itself: error %d, %s (operation %d, %s).", op.Client, ms(op.Return), op.Code, op.Error, op.ID, op.Kind)})
		}
	}
	return finding(found, nil)
}
