package check

import (
	"fmt"

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
	fired := map[string]bool{}
	for _, m := range r.Marks {
		if m.Name == history.MarkFaultFired {
			fired[m.Data["fault"]] = true
		}
	}
	var unknown []string
	for _, f := range r.Planned {
		if !fired[f] {
			unknown = append(unknown, fmt.Sprintf("the planned fault %q never fired", f))
		}
	}
	return finding(nil, unknown)
}
