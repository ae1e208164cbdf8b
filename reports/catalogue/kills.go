package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// fate is what came of a mutant in a scenario.
type fate int

const (
	untried  fate = iota
	survived      // it was run, and the scenario saw nothing
	found         // it is Invalid in the scenario of another mutant
	killed        // it is Invalid in the scenario whose control it is, for the anomaly that is guarded there
)

// fate looks up what came of a mutant. As a rule its bare run counts: with the
// engine's verify pass a mutant may find its own loss and abort, which for the
// scenario of another one is an unexpected outcome. Where no bare run is made,
// that with the pass counts.
func (c Catalogue) fate(mutant string, s Scenario) fate {
	var run *check.Finding
	for i, f := range c.Known {
		if f.Scenario == s.ID && f.Subject == history.MutantPrefix+mutant && f.Verdict != check.NotApplicable && (run == nil || run.Verify) {
			run = &c.Known[i]
		}
	}
	control := s.Control == mutant
	switch {
	case run == nil:
		return untried
	case run.Verdict != check.Invalid, control && run.Anomaly != s.Guards:
		return survived
	case control:
		return killed
	}
	return found
}

// mutants are all that a scenario has for its control, or that were run.
func (c Catalogue) mutants() []string {
	var all []string
	for _, s := range c.Scenarios {
		all = append(all, s.Control)
	}
	for _, f := range c.Known {
		if name, ok := strings.CutPrefix(f.Subject, history.MutantPrefix); ok {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(m string) bool { return m == "" })
}

// kills tells of each mutant which scenarios find it out, those first whose
// control it is.
func (c Catalogue) kills() []kill {
	var all []kill
	for _, mutant := range c.mutants() {
		var own, others []string
		for _, s := range c.Scenarios {
			switch c.fate(mutant, s) {
			case killed:
				own = append(own, "**`"+s.ID+"`**")
			case found:
				others = append(others, "`"+s.ID+"`")
			}
		}
		all = append(all, kill{mutant, cmp.Or(strings.Join(append(own, others...), ", "), notRun)})
	}
	return all
}
