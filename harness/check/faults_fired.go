package check

import (
	"fmt"
	"slices"

	"rowproof/harness/history"
)

// FaultsFired asks whether every planned fault took effect. A run whose fault
// never fired proves nothing, unless the tool has refused: then it never came
// to where the fault waits. Nor does one that is not ours and has given up by
// itself, which is its right; what it left is judged all the same.
func FaultsFired(r *history.Record) Result {
	if r.Exit.Outcome == refused || r.Foreign && r.Exit.Outcome == aborted {
		return finding(nil, nil)
	}
	var unknown []string
	for _, f := range unfired(r) {
		unknown = append(unknown, fmt.Sprintf("the planned fault %q never fired", f))
	}
	return finding(nil, unknown)
}

// unfired are the planned faults that never fired.
func unfired(r *history.Record) []string {
	fired := map[string]bool{}
	for _, m := range r.Marks {
		if m.Name == history.MarkFaultFired {
			fired[m.Data["fault"]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Planned), func(f string) bool { return fired[f] })
}
