package reports_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/reports"
)

// storeResults writes a suite's results.
func storeResults(t *testing.T, dir string, r any) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := history.WriteJSON(filepath.Join(dir, reports.ResultsFile), r); err != nil {
		t.Fatal(err)
	}
}

func TestEarlier(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out[1]")
		for _, name := range []string{"20260101T000000Z", "20260102T000000Z", "20260103T000000Z"} {
			storeResults(t, filepath.Join(out, name), reports.Results{Format: reports.ResultsVersion, Runs: 7})
		}
		storeResults(t, filepath.Join(out, "20260104T000000Z"), nil)
		if err := os.Remove(filepath.Join(out, "20260104T000000Z", reports.ResultsFile)); err != nil {
			t.Fatal(err)
		}
		storeResults(t, filepath.Join(out, "20260105T000000Z"), map[string]any{"format": 99})
		if err := os.Symlink("20260103T000000Z", filepath.Join(out, "latest")); err != nil {
			t.Fatal(err)
		}
		got, err := reports.Earlier(filepath.Join(out, "latest"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range got {
			names = append(names, s.Name)
			if s.Results.Runs != 7 {
				t.Errorf("%s: got %d runs, want 7", s.Name, s.Results.Runs)
			}
		}
		if diff := cmp.Diff([]string{"20260101T000000Z", "20260102T000000Z"}, names); diff != "" {
			t.Errorf("suites (-want +got):\n%s", diff)
		}
	})

	t.Run("ErrNoJSON", func(t *testing.T) {
		out := t.TempDir()
		storeResults(t, filepath.Join(out, "a"), "no object")
		storeResults(t, filepath.Join(out, "b"), reports.Results{Format: reports.ResultsVersion})
		if _, err := reports.Earlier(filepath.Join(out, "b")); err == nil {
			t.Error("earlier: got no error")
		}
	})

	t.Run("ErrAbsent", func(t *testing.T) {
		if _, err := reports.Earlier(filepath.Join(t.TempDir(), "absent")); err == nil {
			t.Error("earlier: got no error")
		}
	})
}

func TestSuites(t *testing.T) {
	all := t.TempDir()
	for name, day := range map[string]int{"b": 1, "a": 2} {
		for range day {
			dir, err := history.NewRunDir(filepath.Join(all, name), "s", "osc", false)
			if err != nil {
				t.Fatal(err)
			}
			r := history.Record{Format: history.FormatVersion, Scenario: "s", Subject: "osc", Started: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}
			if err := history.WriteJSON(filepath.Join(dir, history.RunFile), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := reports.Suites(load(t, all))
	if len(got) != 2 || got[0].Name != "b" || got[1].Name != "a" || got[0].Results.Runs != 1 || got[1].Results.Runs != 2 {
		t.Errorf("suites: got %+v, want b with one run, then a with two", got)
	}
}
