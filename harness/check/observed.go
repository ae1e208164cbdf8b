package check

import (
	"fmt"

	"rowproof/harness/history"
)

// ObservedInFull asks whether the record is whole: nothing the harness wanted
// to read was unreadable, and every operation ended.
func ObservedInFull(r *history.Record) Result {
	unknown := append([]string(nil), r.Observed.Errors...)
	for _, op := range r.Ops {
		if op.Return == 0 {
			unknown = append(unknown, fmt.Sprintf("operation %d of %s (%s) never returned", op.ID, op.Client, op.Kind))
		}
	}
	return finding(nil, unknown)
}
