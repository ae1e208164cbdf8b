package reports_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/reports"
)

func TestFindings(t *testing.T) {
	lost := check.Finding{
		Scenario: "seam-after-sync", Subject: "gh-ost --cut-over=two-step", Version: "1.1.7", Outcome: "completed",
		Verdict: check.Invalid, Anomaly: check.LostRow, Date: "2026-03-01", Report: check.NoReport,
	}
	without := check.Finding{Scenario: "copy-split-read-write", Subject: "pt-osc", Verdict: check.NotApplicable, Date: "2026-03-01"}
	bare := check.Finding{
		Scenario: "seam-after-sync", Subject: "osc", Outcome: "completed", Verdict: check.Valid, Date: "2026-03-01",
	}
	verified := bare
	verified.Verify = true
	killed := check.Finding{
		Scenario: "seam-after-sync", Subject: "mutant:range-read-trusts-attach", Outcome: "completed",
		Verdict: check.Invalid, Anomaly: check.LostRow, Date: "2026-03-01",
	}
	part := func(dir string) string { return filepath.Join(suite, dir) }

	t.Run("OK", func(t *testing.T) {
		got, err := reports.Findings(load(t, part("seam-after-sync"), part("copy-split-read-write/pt-osc")))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]check.Findings{"gh-ost": {lost}, "pt-osc": {without}, "osc": {bare, verified}, "mutants": {killed}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/RandomLoadLeftOut", func(t *testing.T) {
		found := load(t, filepath.Join(suite, "seam-after-sync", "gh-ost"))
		found[0].Record.Load = "random"
		if got, err := reports.Findings(found); err != nil || len(got) != 0 {
			t.Errorf("findings: got %v, %v, want none", got, err)
		}
	})

	t.Run("ErrRepeatsDisagree", func(t *testing.T) {
		found := load(t, filepath.Join(suite, "seam-after-sync", "gh-ost"))
		other := found[0]
		other.Conclusion.Judgement = check.Judgement{Verdict: check.Valid}
		if got, err := reports.Findings(append(found, other)); err == nil {
			t.Errorf("got %v, want an error", got)
		}
	})

	t.Run("ErrUnknown", func(t *testing.T) {
		found := load(t, filepath.Join(suite, "seam-after-sync", "gh-ost"))
		found[0].Conclusion.Judgement = check.Judgement{Verdict: check.Unknown}
		if got, err := reports.Findings(found); err == nil {
			t.Errorf("got %v, want an error", got)
		}
	})
}
