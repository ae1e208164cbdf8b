package reports

import (
	"rowproof/harness/check"
)

// Findings returns what runs found, by the file of check.KnownDir that it
// belongs to. It fails if repeats of a run disagree, or if a run is Unknown.
// Runs under a random load are left out: another seed is another run.
func Findings(runs []Run) (map[string]check.Findings, error) {
	type same struct {
		file, scenario, subject string
		verify                  bool
	}
	repeats := map[same][]check.Finding{}
	var order []same
	for _, r := range runs {
		if r.Record.Load != "" {
			continue
		}
		f := check.NewFinding(r.Record, r.Conclusion.Judgement)
		s := same{check.File(r.Record), f.Scenario, f.Subject, f.Verify}
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
		found[s.file] = append(found[s.file], f)
	}
	return found, nil
}
