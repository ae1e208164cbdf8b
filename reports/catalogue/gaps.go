package catalogue

import (
	"fmt"
	"slices"

	"rowproof/harness/check"
)

// Gaps tells what the catalogue lacks, in a sentence each: a mutant that is
// no scenario's control, a scenario that is not known to find its own, and
// findings that leave a reader with a question. mutants are all that there are.
func (c Catalogue) Gaps(mutants []string) []string {
	return slices.Concat(c.unused(mutants), c.unproven(mutants), c.vague())
}

// unused are mutants that no scenario names.
func (c Catalogue) unused(mutants []string) []string {
	var gaps []string
	for _, m := range mutants {
		if !slices.ContainsFunc(c.Scenarios, func(s Scenario) bool { return s.Control == m }) {
			gaps = append(gaps, fmt.Sprintf("mutant %s: no scenario has it for its control", m))
		}
	}
	return gaps
}

// unproven are scenarios of which it is not known that they find their control
// and nothing in our engine.
func (c Catalogue) unproven(mutants []string) []string {
	var gaps []string
	for _, s := range c.Scenarios {
		gap := func(format string, args ...any) {
			gaps = append(gaps, "scenario "+s.ID+": "+fmt.Sprintf(format, args...))
		}
		switch fate := c.fate(s.Control, s); {
		case s.Control == "":
			gap("it has no control")
		case !slices.Contains(mutants, s.Control):
			gap("there is no mutant %s", s.Control)
		case fate == untried:
			gap("no run of its control is recorded")
		case fate != killed:
			gap("its control %s was run and not found Invalid for %q", s.Control, s.Guards)
		}
		recorded := false
		for _, f := range c.Known {
			if f.Scenario != s.ID || f.Subject != check.KnownOsc {
				continue
			}
			recorded = true
			if f.Verdict != check.Valid {
				gap("%s is %s", f.Subject, f.Verdict)
			}
		}
		if !recorded {
			gap("no run of %s is recorded", check.KnownOsc)
		}
	}
	return gaps
}

// vague are findings of no scenario, and those on other tools that don't say
// of which version they are, or whether they have been reported.
func (c Catalogue) vague() []string {
	var gaps []string
	for _, f := range c.Known {
		gap := func(text string) {
			gaps = append(gaps, fmt.Sprintf("finding on %s in %s: %s", f.Subject, f.Scenario, text))
		}
		if _, ok := c.scenario(f.Scenario); !ok {
			gap("there is no such scenario")
		}
		if !foreign(f) || f.Verdict != check.Invalid {
			continue
		}
		if f.Version == "" {
			gap("it names no version")
		}
		if f.Report == "" {
			gap(fmt.Sprintf("it names no public report; %q is one too", check.NoReport))
		}
	}
	return gaps
}
