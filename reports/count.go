package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rowproof/harness/check"
)

// Count is how the runs of one scenario on one subject ended.
type Count struct {
	Scenario string   `json:"scenario"`
	Subject  string   `json:"subject"`
	Version  string   `json:"version,omitempty"` // of a tool that is not ours
	Flags    []string `json:"flags,omitempty"`   // that it was given
	Verify   bool     `json:"verify"`
	Control  bool     `json:"control"`
	Load     string   `json:"load,omitempty"` // random, or the scenario's own
	Runs     int      `json:"runs"`
	Expected int      `json:"expected"` // runs that ended as the scenario demands
	// Verdicts and Anomalies are how many runs have each. Of a run's
	// anomalies only the one counts that a table shows for it.
	Verdicts  map[check.Verdict]int `json:"verdicts"`
	Anomalies map[string]int        `json:"anomalies,omitempty"`
}

// CountRuns counts runs by scenario and subject, in the order of their first
// runs. Load does not sort by version and flags, so those may alternate.
func CountRuns(runs []Run) []Count {
	type same struct {
		scenario, subject string
		control           bool
	}
	place := map[same]int{}
	counts := []Count{}
	for _, r := range runs {
		c := Count{
			Scenario: r.Record.Scenario, Subject: r.Record.Subject, Version: r.Record.Version, Flags: r.Record.Flags,
			Verify: r.Record.Verify, Control: r.Record.Control, Load: r.Record.Load,
			Verdicts: map[check.Verdict]int{}, Anomalies: map[string]int{},
		}
		s := same{c.Scenario, c.SubjectName(), c.Control}
		i, ok := place[s]
		if !ok {
			i = len(counts)
			place[s] = i
			counts = append(counts, c)
		}
		counts[i].add(r)
	}
	return counts
}

func (c *Count) add(r Run) {
	c.Runs++
	if r.Conclusion.Expected {
		c.Expected++
	}
	c.Verdicts[r.Conclusion.Judgement.Verdict]++
	if a := r.Anomaly(); a != "" {
		c.Anomalies[a]++
	}
}

// SubjectName is how a report names the subject.
func (c Count) SubjectName() string {
	return subjectName(c.Subject, c.Version, c.Flags, c.Verify, c.Load)
}

// String is "Valid 20 of 20", or "Valid 18, Invalid 2 (lost row 1, stale row
// 1)" if they differ.
func (c Count) String() string {
	var parts []string
	for _, verdict := range mostFirst(c.Verdicts) {
		part := fmt.Sprintf("%s %d", verdict, c.Verdicts[verdict])
		if len(c.Verdicts) == 1 {
			part += fmt.Sprintf(" of %d", c.Runs)
		}
		if verdict == check.Invalid {
			part += c.anomalies()
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// anomalies is " (lost row)", or each with its number if there are several.
func (c Count) anomalies() string {
	names := mostFirst(c.Anomalies)
	if len(names) == 0 {
		return ""
	}
	if len(names) > 1 {
		for i, name := range names {
			names[i] = fmt.Sprintf("%s %d", name, c.Anomalies[name])
		}
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// mostFirst returns what was counted, the most frequent first.
func mostFirst[T ~string](counted map[T]int) []T {
	return slices.SortedFunc(maps.Keys(counted), func(a, b T) int {
		return cmp.Or(counted[b]-counted[a], cmp.Compare(a, b))
	})
}

// writeCounts tells how the runs ended that were repeated.
func writeCounts(b *strings.Builder, t Terminal, runs []Run) {
	counts := slices.DeleteFunc(CountRuns(runs), func(c Count) bool { return c.Runs == 1 })
	if len(counts) == 0 {
		return
	}
	scenario, subject := 0, 0
	for _, c := range counts {
		scenario, subject = max(scenario, len(c.Scenario)), max(subject, len(c.SubjectName()))
	}
	b.WriteString("\nRepeated:\n")
	for _, c := range counts {
		fmt.Fprintf(b, "  %-*s  %-*s  %s\n", scenario, c.Scenario, subject, c.SubjectName(), t.verdict(c.Expected == c.Runs, c.String()))
	}
}
