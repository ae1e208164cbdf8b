package html_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/html"
)

// storedEnv names a directory of stored runs, rendered already, whose pages
// are opened too.
const storedEnv = "ROWPROOF_STORED"

// writeSuite stores and renders a suite in which everything happens.
func writeSuite(t *testing.T, dir string) {
	t.Helper()
	control := histories.LostAfterSync()
	control.Control = true
	survivor := histories.StaleCopy()
	survivor.Control, survivor.Observed.Comparison.Diffs = true, nil
	survivor.Observed.Final["2"] = history.Row{"id": history.Text("2"), "name": history.Text("changed"), "val": history.Text("21")}
	good := histories.Made(1)
	good.Planned, good.Observed.Comparison.Diffs = good.Planned[:1], nil
	good.Observed.Final = map[history.Key]history.Row{"1": {"id": history.Text("1"), "name": history.Text(histories.Nasty), "val": history.Text("0")}}
	bad := histories.Made(3)
	bad.Planned = bad.Planned[:1]
	bad.Phases = []history.Phase{{Name: "migrating", Seconds: 1}}
	for _, r := range []*history.Record{control, survivor, good, good, bad} {
		store(t, dir, r)
	}
	runs, err := reports.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := reports.WriteFiles(dir, runs); err != nil {
		t.Fatal(err)
	}
	earlier, err := reports.Earlier(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := pages(t)
	for _, r := range runs {
		if err := p.WriteRun(r, filepath.Join(dir, html.SuiteFile)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.WriteSuite(dir, runs, earlier); err != nil {
		t.Fatal(err)
	}
}

func TestSuiteInBrowser(t *testing.T) {
	all := t.TempDir()
	for _, name := range []string{"monday", "tuesday"} {
		dir := filepath.Join(all, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		writeSuite(t, dir)
	}
	if err := os.Symlink("tuesday", filepath.Join(all, "latest")); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, 2*time.Minute)
	b.open(filepath.Join(all, "latest", html.SuiteFile))

	for selector, wants := range map[string][]string{
		"#answer":   {"5 runs: 3 as expected, 2 not"},
		"#table":    {"seam-after-sync", "Invalid (as it must)", "lost row", "Valid (must be Invalid)", "made-up"},
		"#matrix":   {"range-read-trusts-attach", "found: lost row", "survived"},
		"#repeated": {"not always the same", "Valid 2, Invalid 1 (stale row)"},
		"#slowest":  {"1.50", "migrating 1.00, the rest 0.50"},
		"#history":  {"monday", "tuesday", "3 of 5 as expected", "✗ 2/3", "✓"},
	} {
		got := b.text(selector)
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q: %s", selector, want, got)
			}
		}
	}
	if links := eval[int](b, `document.querySelectorAll('#history thead a').length`); links != 2 {
		t.Errorf("suites in the history: got %d, want 2: latest is one of them", links)
	}

	shown := func() string { return b.text("#shown") }
	for search, want := range map[string]string{"seam lost": "1 of 5 runs", "made-up": "3 of 5 runs", "nothing like it": "0 of 5 runs"} {
		eval[bool](b, `(document.getElementById('search').value = '', true)`)
		b.do(chromedp.SendKeys("#search", search))
		if got := shown(); got != want {
			t.Errorf("search %q: got %q, want %q", search, got, want)
		}
	}
	eval[bool](b, `(search.value = '', filter.value = 'unexpected', filter.dispatchEvent(new Event('change')), true)`)
	if got := shown(); got != "2 of 5 runs" {
		t.Errorf("filter: got %q, want 2 of 5 runs", got)
	}
	b.do(chromedp.Reload(), chromedp.WaitReady(`html[data-ready]`))
	if got := shown(); got != "2 of 5 runs" {
		t.Errorf("filter after a reload: got %q, want 2 of 5 runs", got)
	}

	b.do(chromedp.Click(`#table tbody tr:not([hidden]) a`), chromedp.WaitReady(`#timeline`))
	if got := b.text("h1"); !strings.Contains(got, "copy-split-read-write") {
		t.Errorf("page behind the link: got %q", got)
	}
	b.do(chromedp.Click(`.back a`), chromedp.WaitReady(`#matrix`))
	b.clean()
}

// The pages of runs that were made and rendered before this test, such as
// those of all scenarios.
func TestStoredInBrowser(t *testing.T) {
	dir := os.Getenv(storedEnv)
	if dir == "" {
		t.Skip(storedEnv + " is not set")
	}
	runs, err := reports.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, time.Minute+time.Duration(len(runs))*time.Second)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	b.open(filepath.Join(real, html.SuiteFile))
	b.clean()
	for _, r := range runs {
		path, err := filepath.Abs(filepath.Join(r.Dir, html.RunFile))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(read(t, path), "<script>") {
			if r.Conclusion.Judgement.Verdict == check.Valid || r.Conclusion.Judgement.Verdict == check.Invalid {
				t.Errorf("%s: a judged run has no timeline", path)
			}
			continue
		}
		b.open(path)
		if got := eval[int](b, `timeline.data.items.length`); got == 0 {
			t.Errorf("%s: the timeline is empty", path)
		}
		b.clean()
	}
	t.Logf("%d pages", len(runs)+1)
}
