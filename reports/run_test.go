package reports_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
)

func TestLoad(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		var got []string
		for _, r := range load(t, suite) {
			rel, err := filepath.Rel(suite, r.Dir)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		want := []string{
			"copy-split-read-write/osc/1",
			"copy-split-read-write/pt-osc/1",
			"copy-split-read-write/mutant-copy-reads-then-writes/1",
			"seam-after-sync/osc/1",
			"seam-after-sync/osc/2",
			"seam-after-sync/osc/10",
			"seam-after-sync/osc-verify/1",
			"seam-after-sync/gh-ost/1",
			"seam-after-sync/mutant-range-read-trusts-attach/1",
			"seam-after-sync-empty/osc/1",
			"seam-after-sync-empty/osc-verify/1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/EachRunOnce", func(t *testing.T) {
		one := filepath.Join(suite, "seam-after-sync", "osc", "1")
		if got := load(t, one, filepath.Join(suite, "seam-after-sync"), one); len(got) != 6 {
			t.Errorf("runs: got %d, want 6", len(got))
		}
	})

	t.Run("OK/RunWithoutVerdict", func(t *testing.T) {
		got := load(t, filepath.Join(suite, "seam-after-sync-empty", "osc-verify"))[0].Conclusion
		if got.Judgement.Verdict != check.Unknown || got.Expected || got.Reason == "" {
			t.Errorf("conclusion: got %+v, want Unknown, not expected, with a reason", got)
		}
	})

	t.Run("ErrNoRuns", func(t *testing.T) {
		if _, err := reports.Load(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("load: got %v, want %v", err, fs.ErrNotExist)
		}
	})

	t.Run("ErrOtherFormat", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, history.RunFile), []byte(`{"format":99}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := reports.Load(dir); err == nil {
			t.Error("load: got no error for format 99")
		}
	})
}

func TestExpected(t *testing.T) {
	all := load(t, suite)
	good := slices.DeleteFunc(slices.Clone(all), func(r reports.Run) bool { return !r.Conclusion.Expected })
	for name, tt := range map[string]struct {
		runs []reports.Run
		want bool
	}{
		"AllGood": {good, true},
		"OneBad":  {all, false},
		"NoRuns":  {nil, false},
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			if got := reports.Expected(tt.runs); got != tt.want {
				t.Errorf("expected: got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		dir := t.TempDir()
		r := &history.Record{
			Scenario: "made-up", Subject: "osc", Expect: "completed", Planned: []string{"never-fires"},
			Exit: history.Exit{Outcome: "completed"},
		}
		if err := history.Save(dir, r); err != nil {
			t.Fatal(err)
		}
		old := check.Conclusion{Judgement: check.Judgement{Verdict: check.Valid}, Expected: true, Seconds: 2.5}
		if err := check.SaveConclusion(dir, old); err != nil {
			t.Fatal(err)
		}
		got, err := reports.Judge(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c := got.Conclusion; c.Judgement.Verdict == check.Valid || c.Expected || c.Seconds != 2.5 {
			t.Errorf("conclusion: got %+v, want not Valid, not expected, 2.5 seconds", c)
		}
		stored, err := check.LoadConclusion(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got.Conclusion, stored); diff != "" {
			t.Errorf("stored (-returned +stored):\n%s", diff)
		}
	})

	t.Run("OK/RunThatDiedStaysUnknown", func(t *testing.T) {
		dir := filepath.Join(copySuite(t), "seam-after-sync-empty", "osc-verify", "1")
		got, err := reports.Judge(dir, nil)
		if err != nil || got.Conclusion.Judgement.Verdict != check.Unknown {
			t.Errorf("judge: got %v, %v, want Unknown", got.Conclusion.Judgement.Verdict, err)
		}
	})

	t.Run("ErrNoRun", func(t *testing.T) {
		if _, err := reports.Judge(t.TempDir(), nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("judge: got %v, want %v", err, fs.ErrNotExist)
		}
	})
}

// All reports begin with the anomaly that the scenario exists for, whatever
// was found before it.
func TestAnomalies(t *testing.T) {
	run := load(t, filepath.Join(suite, "copy-split-read-write", "osc"))[0] // guards against a stale row
	other := check.Anomaly{Kind: check.LostRow, Text: "another row is lost"}
	judgement := &run.Conclusion.Judgement
	judgement.Results = slices.Insert(judgement.Results, 0, check.Result{Checker: "another", Verdict: check.Invalid, Anomalies: []check.Anomaly{other}})
	const guarded = "row 1 holds"

	t.Run("OK", func(t *testing.T) {
		got := run.Anomalies()
		if len(got) != 6 || got[0].Kind != check.StaleRow || got[5] != other {
			t.Errorf("anomalies: got %+v, want five stale rows and then the lost one", got)
		}
	})

	t.Run("OK/Annotation", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteAnnotations(&b, []reports.Run{run}, nil); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, guarded) || strings.Contains(got, other.Text) {
			t.Errorf("annotation: got %q, want the stale row alone", got)
		}
	})

	t.Run("OK/JUnit", func(t *testing.T) {
		var b bytes.Buffer
		if err := reports.WriteJUnit(&b, []reports.Run{run}); err != nil {
			t.Fatal(err)
		}
		if first, second := strings.Index(b.String(), guarded), strings.Index(b.String(), other.Text); first < 0 || second < first {
			t.Errorf("JUnit XML: the stale row is at %d, the lost one at %d; want that order", first, second)
		}
	})
}
