package check

import (
	"fmt"

	"rowproof/harness/history"
)

// FaultsFired asks whether every planned fault took effect. A run whose fault
// never fired proves nothing.
func FaultsFired(r *history.Record) Result {
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
