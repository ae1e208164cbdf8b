package reports

import (
	"rowproof/harness/check"
)

// Findings returns what runs of tools that are not ours found, by tool. It
// fails if repeats of a run disagree, or if a run is Unknown.
func Findings(runs []Run) (map[string]check.Findings, error) {
	type same struct{ tool, scenario, subject string }
	repeats := map[same][]check.Finding{}
	var order []same
	for _, r := range runs {
		if !r.Record.Foreign {
			continue
		}
		f := check.NewFinding(r.Record, r.Conclusion.Judgement)
		s := same{r.Record.Subject, f.Scenario, f.Subject}
		if repeats[s] == nil {
			order = append(order, s)
		}
		repeats[s] = append(repeats[s], f)
	}
	found := map[string]check.Findings{}
	for _, s := range order {
		f, err := check.Agree(repeats[s])
		if err != nil {
			return nil, err
		}
		found[s.tool] = append(found[s.tool], f)
	}
	return found, nil
}
