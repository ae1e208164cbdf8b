package bench_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"rowproof/harness/bench"
	"rowproof/harness/bench/figures"
	"rowproof/harness/subject"
)

// small is a benchmark of seconds.
func small(t *testing.T) bench.Config {
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return bench.Config{
		Root: root, Version: "test", Logs: t.TempDir(),
		Rows: 5000, Changes: 3000, Repeat: 2, Rates: []int{200}, Calm: time.Second,
		Only: []string{"whole/osc", "whole/COPY", "whole/pt-osc", "indexes/INPLACE", "backlog", "load-200/none", "load-200/osc"},
	}
}

func TestRun(t *testing.T) {
	began, ended := 0, 0
	r, err := bench.Run(t.Context(), small(t), bench.Watch{
		Note:  func(line string) { t.Log(line) },
		Begin: func(figures.Run, int, int) { began++ },
		End:   func(figures.Run, int, int) { ended++ },
	})
	if err != nil {
		t.Fatal(err)
	}

	want := []string{ // rounds of all contenders
		"whole/osc", "whole/COPY", "whole/pt-osc", "whole/osc", "whole/COPY", "whole/pt-osc",
		"indexes/INPLACE", "indexes/INPLACE",
		"backlog/osc", "backlog/osc",
		"load-200/none", "load-200/osc", "load-200/none", "load-200/osc",
	}
	var got []string
	for _, run := range r.Runs {
		got = append(got, string(run.Phase)+"/"+run.Contender)
		checkRun(t, run)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got runs\n%v\nwant\n%v", got, want)
	}
	if began != len(want) || ended != len(want) {
		t.Errorf("watched %d begin and %d end, want %d", began, ended, len(want))
	}
	if r.Table.Rows != 5000 || r.Table.Bytes < 5000*200 || r.Server.Version == "" {
		t.Errorf("the report says %+v and %+v", r.Table, r.Server)
	}
}

func checkRun(t *testing.T, run figures.Run) {
	t.Helper()
	name := string(run.Phase) + "/" + run.Contender
	if run.Error != "" {
		t.Errorf("%s failed: %s", name, run.Error)
		return
	}
	if run.Seconds <= 0 {
		t.Errorf("%s took %v s", name, run.Seconds)
	}
	if tool := run.Contender == "osc" || run.Contender == "pt-osc"; tool != (run.PeakBytes > 0) {
		t.Errorf("%s held %d bytes", name, run.PeakBytes)
	}
	switch run.Phase {
	case figures.Backlog:
		if run.Changes != 3000 {
			t.Errorf("%s applied %d changes, want 3000", name, run.Changes)
		}
	case "load-200":
		f := run.Felt
		if f == nil || f.Due == 0 || f.Failed > 0 || f.P50 <= 0 || f.P50 > f.P99 || f.P99 > f.P999 || f.P999 > f.Max*1.01 {
			t.Errorf("%s was felt as %+v", name, f)
		}
		if run.Contender == figures.None && f != nil && (f.Due < 150 || f.Due > 250) {
			t.Errorf("%s: %d writes were due in a second, want about 200", name, f.Due)
		}
	}
}

func TestRunErrNothing(t *testing.T) {
	cfg := small(t)
	cfg.Only = []string{"no-such-phase"}
	if _, err := bench.Run(t.Context(), cfg, bench.Watch{}); err == nil {
		t.Error("got no error")
	}
}

// An interrupt ends the run and leaves nothing running.
func TestRunErrInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := small(t)
	cfg.Only = []string{"whole"}
	r, err := bench.Run(ctx, cfg, bench.Watch{Begin: func(_ figures.Run, n, _ int) {
		if n == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if len(r.Runs) != 1 {
		t.Errorf("got %d runs, want the one that ended before", len(r.Runs))
	}
}
