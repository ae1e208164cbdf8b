package reports_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/reports"
)

func TestCount(t *testing.T) {
	counts := map[string]reports.Count{
		"Valid 20 of 20":            {Runs: 20, Verdicts: map[check.Verdict]int{check.Valid: 20}},
		"Invalid 2 of 2 (lost row)": {Runs: 2, Verdicts: map[check.Verdict]int{check.Invalid: 2}, Anomalies: map[string]int{"lost row": 2}},
		"Valid 18, Invalid 2":       {Runs: 20, Verdicts: map[check.Verdict]int{check.Valid: 18, check.Invalid: 2}},
		"Unknown 2, Valid 1":        {Runs: 3, Verdicts: map[check.Verdict]int{check.Valid: 1, check.Unknown: 2}},
		"Valid 1 of 1":              {Runs: 1, Verdicts: map[check.Verdict]int{check.Valid: 1}},
		"Valid 17, Invalid 3 (lost row 2, stale row 1)": {Runs: 20,
			Verdicts: map[check.Verdict]int{check.Valid: 17, check.Invalid: 3}, Anomalies: map[string]int{"stale row": 1, "lost row": 2}},
	}
	for want, c := range counts {
		t.Run("OK/"+want, func(t *testing.T) {
			if got := c.String(); got != want {
				t.Errorf("text: got %q, want %q", got, want)
			}
		})
	}
}

func TestCountRuns(t *testing.T) {
	counts := reports.CountRuns(load(t, suite))
	if len(counts) != 9 {
		t.Fatalf("got %d counts, want one for each of 9 pairs of scenario and subject", len(counts))
	}
	got := map[string]string{}
	for _, c := range counts {
		got[c.Scenario+" "+c.SubjectName()] = c.String()
	}
	for name, want := range map[string]string{
		"seam-after-sync osc":                             "Valid 3 of 3",
		"seam-after-sync osc +verify":                     "Valid 1 of 1",
		"seam-after-sync mutant:range-read-trusts-attach": "Invalid 1 of 1 (lost row)",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
}

// Repeats are sorted by their numbers and not by the version of the tool.
func TestCountVersions(t *testing.T) {
	runs := load(t, filepath.Join(suite, "seam-after-sync", "osc"))
	for i, version := range []string{"1.1", "1.2", "1.1"} {
		runs[i].Record.Version = version
	}
	var got []string
	for _, c := range reports.CountRuns(runs) {
		got = append(got, c.SubjectName()+": "+c.String())
	}
	if diff := cmp.Diff([]string{"osc 1.1: Valid 2 of 2", "osc 1.2: Valid 1 of 1"}, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
