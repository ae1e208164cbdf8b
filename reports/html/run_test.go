package html_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports/html"
)

func TestWriteRun(t *testing.T) {
	valid := histories.LostAfterSync()
	valid.Subject, valid.Control, valid.Planned = "osc", false, nil
	valid.Observed.Comparison = history.Comparison{Done: true, Against: "the old table", Rows: 4, FinalRows: 4}
	valid.Observed.Final = map[history.Key]history.Row{"1000": {"id": history.Text("1000"), "name": history.Text("late"), "val": history.Text("7")}}
	aborted := histories.LostAfterSync()
	aborted.Subject, aborted.Planned, aborted.Expect = "osc", nil, "aborted"
	aborted.Exit = history.Exit{Outcome: "aborted", Code: 1, Message: "rows differ"}
	aborted.Observed = valid.Observed
	aborted.Observed.Comparison = history.Comparison{}
	unknown := histories.LostAfterSync()
	unknown.Subject = "osc"
	unknown.Observed.Comparison.Diffs = nil
	unknown.Observed.Final = valid.Observed.Final
	unknown.Observed.Errors = []string{"read binlog: purged"}
	control := histories.LostAfterSync()
	control.Control, control.Repeat = true, "go run ./cmd/rowproof run seam-after-sync --seed 1"
	bytes := histories.StaleCopy()
	bytes.Observed.Comparison.Diffs = []history.RowDiff{{
		Key:     "2",
		Want:    history.Row{"id": history.Text("2"), "name": history.Text("a"), "val": nil},
		Got:     history.Row{"id": history.Text("2"), "name": history.Text("a"), "val": history.Text("")},
		WantHex: map[string]string{"name": "61"}, GotHex: map[string]string{"name": "6100"},
	}}

	for name, tt := range map[string]struct {
		record *history.Record
		want   []string
	}{
		"Valid":   {valid, []string{`class="answer valid"`, "No row was lost, changed or brought back.", "1 acknowledged write was looked for", "byte by byte"}},
		"Aborted": {aborted, []string{`class="answer valid"`, "the original table holds every acknowledged write", "aborted, exit status 1: rows differ"}},
		"Unknown": {unknown, []string{`class="answer unknown"`, "Nothing was proved", "read binlog: purged"}},
		"Control": {control, []string{
			`class="answer invalid"`, "Invalid (as it must): lost row", "Row 1000 of pair is missing in the final table", "the engine with the bug put back",
			"So neither saw the row: the stream started after its event", "To repeat this run:", "go run ./cmd/rowproof run seam-after-sync --seed 1",
			`<span class="word">no such row</span>`, "waits for its ACK",
		}},
		"Bytes": {bytes, []string{"bytes: 61 <mark>(ends here)</mark>", "bytes: 61 <mark>00</mark>", `<span class="word">NULL</span>`, `<span class="word">empty</span>`}},
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			got := read(t, page(t, tt.record))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("page lacks %q", want)
				}
			}
		})
	}

	t.Run("OK/NotApplicable", func(t *testing.T) {
		got := read(t, page(t, &history.Record{Scenario: "s", Subject: "tool", Missing: []string{"apply"}}))
		for _, want := range []string{"Not applicable", "the subject lacks apply", "there is no timeline"} {
			if !strings.Contains(got, want) {
				t.Errorf("page lacks %q", want)
			}
		}
		if strings.Contains(got, "<script>") {
			t.Error("the page has a script and nothing to draw")
		}
	})

	t.Run("OK/DiedEarly", func(t *testing.T) {
		run := store(t, t.TempDir(), histories.LostAfterSync())
		for _, name := range []string{history.ObservedFile, history.MarksFile, history.OperationsFile} {
			if err := os.Remove(filepath.Join(run.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := pages(t).WriteRun(run, ""); err != nil {
			t.Fatal(err)
		}
		got := read(t, filepath.Join(run.Dir, html.RunFile))
		if !strings.Contains(got, "there is no timeline") || strings.Contains(got, "<script>") {
			t.Error("page: want a word that there is no timeline, and none")
		}
	})

	t.Run("OK/LinkToSuite", func(t *testing.T) {
		suite := t.TempDir()
		run := store(t, suite, histories.LostAfterSync())
		if err := pages(t).WriteRun(run, filepath.Join(suite, html.SuiteFile)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(run.Dir, html.RunFile)); !strings.Contains(got, `href="../../../index.html"`) {
			t.Error("page lacks the link to the suite's page")
		}
	})

	t.Run("ErrNoDirectory", func(t *testing.T) {
		run := store(t, t.TempDir(), histories.LostAfterSync())
		run.Dir = filepath.Join(run.Dir, "absent")
		if err := pages(t).WriteRun(run, ""); err == nil {
			t.Error("write: got no error")
		}
	})
}

// Statements are cut only if they must be, and never those of the row.
func TestLongStatements(t *testing.T) {
	r := histories.Made(200)
	noise := make([]byte, 60_000)
	state := uint64(1)
	for i := range r.Ops {
		for k := range noise { // nothing that could be compressed
			state = state*6364136223846793005 + 1442695040888963407
			noise[k] = ' ' + byte(state>>57)%90
		}
		r.Ops[i].SQL = []string{"UPDATE /* " + string(noise) + " */ pair"}
	}
	path := page(t, r)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > mostBytes {
		t.Errorf("page: got %d bytes, want at most %d", info.Size(), mostBytes)
	}
	b := newTab(t, 2*time.Minute)
	b.open(path)
	own := eval[int](b, `timeline.item(timeline.history[0]).text.length`)
	other := eval[string](b, `timeline.item(timeline.byLane.find(l => l.length && timeline.item(l[0]).kind === 'write' && !(timeline.item(l[0]).flags & 1))[0]).text`)
	if own < 60_000 || !strings.Contains(other, "bytes in all; the run directory holds them") {
		t.Errorf("statements: the row's has %d characters, another one is %.80q; want all of the first, a part of the other", own, other)
	}
	b.clean()
}
