package figures_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/bench/figures"
)

func report() figures.Report {
	run := func(phase figures.Phase, contender string, seconds float64) figures.Run {
		return figures.Run{Phase: phase, Contender: contender, Seconds: seconds}
	}
	broken := run(figures.Whole, "osc", 99)
	broken.Error = "it fell over"
	backlog := run(figures.Backlog, "osc", 2)
	backlog.Changes = 100
	load := run("load-500", "osc", 3)
	load.Felt = &figures.Felt{Rate: 500, P99: 7}
	big := run(figures.Whole, "osc", 5)
	big.PeakBytes = 42
	return figures.Report{
		Schema: figures.Schema, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Version: "abc",
		Runs: []figures.Run{
			run(figures.Whole, "osc", 4), run(figures.Whole, "COPY", 10),
			big, run(figures.Whole, "COPY", 30), broken, run(figures.Whole, "COPY", 20),
			run(figures.Whole, "osc", 9), backlog, load,
		},
	}
}

func TestRows(t *testing.T) {
	r := report()
	if diff := cmp.Diff([]figures.Phase{figures.Whole, figures.Backlog, "load-500"}, r.Phases()); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	rows := r.Rows(figures.Whole)
	want := []figures.Row{
		{Phase: figures.Whole, Contender: "osc", Runs: 3, Error: "it fell over", Seconds: 5, PeakBytes: 42},
		{Phase: figures.Whole, Contender: "COPY", Runs: 3, Seconds: 20},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got, ok := rows[0].Ratio(rows, "COPY"); !ok || got != 0.25 {
		t.Errorf("ratio is %v, %v, want 0.25", got, ok)
	}
	if got, ok := rows[0].Ratio(rows, "gh-ost"); ok {
		t.Errorf("ratio to a contender that is not there is %v", got)
	}
	if got := r.Rows(figures.Backlog)[0].PerSecond; got != 50 {
		t.Errorf("got %v changes a second, want 50", got)
	}
	if got := r.Rows("load-500")[0].Felt; got == nil || got.P99 != 7 {
		t.Errorf("got %+v, want a p99 of 7", got)
	}
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a.json")
	t.Run("OK", func(t *testing.T) {
		if err := report().Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := figures.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(report(), got); diff != "" {
			t.Errorf("what was read is not what was written (-want +got):\n%s", diff)
		}
	})
	t.Run("ErrSchema", func(t *testing.T) {
		if err := os.WriteFile(path, []byte(`{"schema": 99}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := figures.Read(path); err == nil || !strings.Contains(err.Error(), "schema is 99") {
			t.Errorf("got %v, want an error that names the schema", err)
		}
	})
}
