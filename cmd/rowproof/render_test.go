package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/html"
	"rowproof/reports/markdown"
)

// storeRun stores a judged run in a suite and returns its directory.
func storeRun(t *testing.T, suite string, r *history.Record) string {
	t.Helper()
	dir, err := history.NewRunDir(suite, r.Scenario, r.Subject, r.Verify)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Save(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := check.SaveConclusion(dir, check.Conclude(r, check.Judge(r), nil, 1.5)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// lost is a control that is as it must be.
func lost() *history.Record {
	r := histories.LostAfterSync()
	r.Control = true
	return r
}

func TestRender(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		suite := t.TempDir()
		dir := storeRun(t, suite, lost())
		if got := rowproofHere(t, "report", suite); got.status != exitExpected {
			t.Fatalf("got %+v, want status %d", got, exitExpected)
		}
		for path, want := range map[string]string{
			filepath.Join(suite, html.SuiteFile): "1 run: 1 as expected, 0 not",
			filepath.Join(dir, html.RunFile):     `href="../../../index.html"`,
			filepath.Join(dir, markdown.BugFile): "# Lost row in `pair`",
			filepath.Join(suite, "junit.xml"):    `tests="1"`,
			filepath.Join(suite, "results.json"): `"anomaly": "lost row"`,
		} {
			if got := read(t, path); !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
	})

	t.Run("OK/Elsewhere", func(t *testing.T) {
		a, b, out := t.TempDir(), t.TempDir(), t.TempDir()
		dir := storeRun(t, a, lost())
		storeRun(t, b, lost())
		if got := rowproofHere(t, "report", a, b, "--out", out); got.status != exitExpected {
			t.Fatalf("got %+v, want status %d", got, exitExpected)
		}
		page := read(t, filepath.Join(out, html.SuiteFile))
		for _, want := range []string{"Earlier results", filepath.Base(a), filepath.Base(b)} {
			if !strings.Contains(page, want) {
				t.Errorf("page lacks %q", want)
			}
		}
		rel, err := filepath.Rel(dir, filepath.Join(out, html.SuiteFile))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(dir, html.RunFile)); !strings.Contains(got, `href="`+rel+`"`) {
			t.Errorf("the run's page does not lead to %s", rel)
		}
	})

	t.Run("ErrNoOut", func(t *testing.T) {
		suite := t.TempDir()
		storeRun(t, suite, lost())
		if got := rowproofHere(t, "report", suite, "--out", filepath.Join(suite, "absent")); got.status != exitUsage {
			t.Errorf("got %+v, want status %d", got, exitUsage)
		}
	})
}

func TestGitHub(t *testing.T) {
	suite := t.TempDir()
	r := histories.LostAfterSync() // not a control, so not as expected
	r.Scenario = "seam-after-sync"
	storeRun(t, suite, r)
	summary := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv(actionsEnv, "true")
	t.Setenv(summaryEnv, summary)

	t.Run("OK", func(t *testing.T) {
		got := rowproofHere(t, "report", suite)
		if want := "::error file=scenarios/seam_test.go,line="; got.status != exitUnexpected || !strings.Contains(got.out, want) {
			t.Errorf("got %+v, want status %d and %q", got, exitUnexpected, want)
		}
		if got := read(t, summary); !strings.Contains(got, "1 run: 0 as expected, 1 not") {
			t.Errorf("summary: got %q", got)
		}
	})

	t.Run("OK/NotThere", func(t *testing.T) {
		t.Setenv(actionsEnv, "")
		if got := rowproofHere(t, "report", suite); strings.Contains(got.out, "::error") {
			t.Errorf("got %+v, want no annotation outside of GitHub", got)
		}
	})

	t.Run("ErrSummary", func(t *testing.T) {
		t.Setenv(summaryEnv, t.TempDir())
		if got := rowproofHere(t, "report", suite); got.status != exitEnvironment || !strings.Contains(got.err, "write job summary") {
			t.Errorf("got %+v, want status %d", got, exitEnvironment)
		}
	})
}

func TestDiff(t *testing.T) {
	suite := t.TempDir()
	a := storeRun(t, suite, lost())
	b := storeRun(t, suite, lost())
	other := lost()
	other.Ops[0].Outcome = history.Unknown
	c := storeRun(t, suite, other)
	foreign := storeRun(t, t.TempDir(), histories.StaleCopy())
	died := storeRun(t, t.TempDir(), lost())
	if err := os.Remove(filepath.Join(died, history.MarksFile)); err != nil {
		t.Fatal(err)
	}

	for name, tt := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"OK/Same":          {[]string{a, b}, exitExpected, "They do not part ways"},
		"OK/Differ":        {[]string{a, c}, exitUnexpected, "They first part ways in client fault, event 1:"},
		"ErrOne":           {[]string{a}, exitUsage, "accepts 2 arg(s)"},
		"ErrSeveralRuns":   {[]string{suite, a}, exitUsage, "holds 3 runs: name one of them"},
		"ErrOtherScenario": {[]string{a, foreign}, exitUsage, "only runs of one scenario can be compared"},
		"ErrAbsent":        {[]string{a, filepath.Join(suite, "absent")}, exitUsage, "no such file"},
		"ErrDiedEarly":     {[]string{a, died}, exitUsage, "ended before all of it was stored"},
	} {
		t.Run(name, func(t *testing.T) {
			got := rowproofHere(t, append([]string{"diff"}, tt.args...)...)
			if got.status != tt.status || !strings.Contains(got.out+got.err, tt.want) {
				t.Errorf("got %+v, want status %d and %q", got, tt.status, tt.want)
			}
		})
	}
}

// mostTime is how long judging and rendering a thousand runs may take.
const mostTime = time.Minute

// BenchmarkThousandRuns judges and renders a thousand stored runs, each with
// a hundred operations and four hundred marks.
func BenchmarkThousandRuns(b *testing.B) {
	suite := b.TempDir()
	for i := range 1000 {
		dir := filepath.Join(suite, "made-up", "osc", fmt.Sprint(i+1))
		r := histories.Made(100)
		if err := history.Save(dir, r); err != nil {
			b.Fatal(err)
		}
	}
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	for b.Loop() {
		began := time.Now()
		if status := execute([]string{"judge", suite}, console{out: out, err: out}); status != exitUnexpected {
			b.Fatalf("judge: got status %d, want %d", status, exitUnexpected)
		}
		judged := time.Since(began)
		runs, err := reports.Load(suite)
		if err != nil {
			b.Fatal(err)
		}
		if err := render(suite, runs); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		b.ReportMetric(judged.Seconds(), "s/judge")
		b.ReportMetric((took - judged).Seconds(), "s/render")
		if took > mostTime {
			b.Errorf("a thousand runs: got %v, want at most %v", took, mostTime)
		}
	}
}
