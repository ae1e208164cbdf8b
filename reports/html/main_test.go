package html_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/html"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store judges a record and stores it as a run directory of a suite.
func store(t *testing.T, suite string, r *history.Record) reports.Run {
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
	runs, err := reports.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return runs[0]
}

// page stores a record, writes its page, and returns the page's path.
func page(t *testing.T, r *history.Record) string {
	t.Helper()
	run := store(t, t.TempDir(), r)
	if err := pages(t).WriteRun(run, ""); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(run.Dir, html.RunFile)
}

func pages(t *testing.T) html.Pages {
	t.Helper()
	p, err := html.NewPages()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
