package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// mostSlow is how many scenarios a report names as the slowest.
const mostSlow = 10

// shownPart is the smallest part of a scenario's time that is named.
const shownPart = 0.05

// spent is the time that all runs of a scenario took together.
type spent struct {
	scenario string
	runs     int
	seconds  float64
	phases   []history.Phase
}

// spend adds up the times of runs, by scenario, the slowest first.
func spend(runs []Run) []spent {
	var all []spent
	for _, r := range runs {
		if r.notApplicable() {
			continue
		}
		i := slices.IndexFunc(all, func(s spent) bool { return s.scenario == r.Record.Scenario })
		if i < 0 {
			i = len(all)
			all = append(all, spent{scenario: r.Record.Scenario})
		}
		all[i].add(r)
	}
	slices.SortStableFunc(all, func(a, b spent) int { return cmp.Compare(b.seconds, a.seconds) })
	return all
}

func (s *spent) add(r Run) {
	s.runs++
	s.seconds += r.Conclusion.Seconds
	for _, p := range r.Record.Phases {
		if i := slices.IndexFunc(s.phases, func(q history.Phase) bool { return q.Name == p.Name }); i >= 0 {
			s.phases[i].Seconds += p.Seconds
		} else {
			s.phases = append(s.phases, p)
		}
	}
}

// String is what the time was spent on, the longest phase first: "migrating
// 8.1, comparing tables 1.2, the rest 0.3".
func (s spent) String() string {
	phases := slices.SortedStableFunc(slices.Values(s.phases), func(a, b history.Phase) int { return cmp.Compare(b.Seconds, a.Seconds) })
	var parts []string
	rest := s.seconds
	for _, p := range phases {
		if p.Seconds >= shownPart*s.seconds {
			parts = append(parts, fmt.Sprintf("%s %.1f", p.Name, p.Seconds))
			rest -= p.Seconds
		}
	}
	if rest >= 0.05 {
		parts = append(parts, fmt.Sprintf("the rest %.1f", rest))
	}
	return Printable(strings.Join(parts, ", "))
}

// writeSlowest tells which scenarios took the most time, and for what, if
// there are more than it names.
func writeSlowest(b *strings.Builder, runs []Run) {
	all := spend(runs)
	if len(all) <= mostSlow {
		return
	}
	fmt.Fprintf(b, "\nThe %d slowest of %d scenarios, in seconds:\n", mostSlow, len(all))
	width := 0
	for _, s := range all[:mostSlow] {
		width = max(width, len(s.scenario))
	}
	for _, s := range all[:mostSlow] {
		noun := "runs"
		if s.runs == 1 {
			noun = "run"
		}
		fmt.Fprintf(b, "  %-*s %6.1f in %d %s: %s\n", width, Printable(s.scenario), s.seconds, s.runs, noun, s)
	}
}
