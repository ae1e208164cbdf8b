package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"rowproof/harness/bench"
	"rowproof/harness/bench/figures"
	"rowproof/harness/subject"
	"rowproof/reports"
	"rowproof/reports/benchmark"
)

// benchDir is where the figures are kept, in the module.
const benchDir = "reports/bench"

// benchOptions is what `rowproof bench` is asked for.
type benchOptions struct {
	cfg  bench.Config
	from string // a stored report to show again
	out  string // directory for the report
}

func newBenchCommand(c console) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time osc beside the server's own ALTER and other tools",
		Long: `Time osc beside the server's own ALTER and other tools, on one server, one
after the other in rounds. Every contender does the same rebuild (ENGINE=InnoDB)
of the same table and drops the old one.

Phases:
  whole      the whole command, with no other load
  indexes    the same on a table with four secondary indexes
  backlog    applying single-row changes that piled up after the copy
  load-RATE  the whole command under a steady load of writes, and what the
             writes feel: a latency counts from when its write was due

Contenders: osc (with its verify pass; no replica follows the server, so it
builds secondary indexes after the copy), osc-noverify, osc-inline (secondary
indexes with each row), COPY and INPLACE (the server's ALTER), pt-osc (its
image is built on first use), and gh-ost and spirit where a program is given.
In the backlog phase: osc, and gh-ost with its largest batch.

Compare ratios, not seconds: those depend on the machine. The tables go to the
terminal; the figures are kept as ` + benchDir + `/DATE-VERSION.json with a plot
beside them. package harness/bench/figures says what each field means.`,
		Example: `  rowproof bench
  rowproof bench --gh-ost ~/bin/gh-ost --spirit ~/bin/spirit
  rowproof bench --rows 100000 --changes 20000 --repeat 1 --only whole,backlog
  rowproof bench --only 'load-*/osc,load-*/gh-ost,load-*/none' --gh-ost ~/bin/gh-ost
  rowproof bench --from reports/bench/2026-01-31-0123abc.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(cmd.Context(), c, o) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Int64Var(&o.cfg.Rows, "rows", 2_000_000, "rows of the table")
	flags.Int64Var(&o.cfg.Changes, "changes", 400_000, "single-row changes in the backlog")
	flags.IntSliceVar(&o.cfg.Rates, "rate", []int{500, 1000}, "writes a second of the load; several with commas")
	flags.IntVar(&o.cfg.Repeat, "repeat", 3, "rounds of each phase; the tables show medians")
	flags.StringSliceVar(&o.cfg.Only, "only", nil, "measure these alone: phases, contenders or `PHASE/CONTENDER`; * stands for any text")
	flags.StringVar(&o.cfg.GhOst, "gh-ost", "", "`path` of a gh-ost to measure too")
	flags.StringVar(&o.cfg.Spirit, "spirit", "", "`path` of a spirit to measure too")
	flags.StringVar(&o.out, "out", "", "`directory` for the figures and the plot (default: "+benchDir+")")
	flags.StringVar(&o.from, "from", "", "show a stored `file` again, and draw its plot, instead of measuring")
	return cmd
}

func runBench(ctx context.Context, c console, o benchOptions) error {
	if o.from != "" {
		r, err := figures.Read(o.from)
		if err != nil {
			return usage(fmt.Errorf("--from: %w", err))
		}
		return showBench(c, r, strings.TrimSuffix(o.from, ".json"))
	}
	if o.cfg.Rows == 0 || o.cfg.Repeat == 0 || o.cfg.Changes == 0 {
		return usage(errors.New("--rows, --repeat and --changes must be at least 1"))
	}
	if err := o.cfg.Validate(); err != nil {
		return usage(err)
	}
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	if o.cfg.Logs, err = os.MkdirTemp("", "rowproof-bench-logs-"); err != nil {
		return environment(fmt.Errorf("make directory for logs: %w", err))
	}
	o.cfg.Root, o.cfg.Version = root, version(ctx, root)
	if o.out == "" {
		o.out = filepath.Join(root, benchDir)
	}

	view := &benchView{t: reports.NewTerminal(c.err)}
	r, err := bench.Run(ctx, o.cfg, bench.Watch{Note: view.note, Begin: view.begin, End: view.end})
	view.close()
	if len(r.Runs) > 0 { // also those before an error or an interrupt
		path := filepath.Join(o.out, r.Started.Format("2006-01-02")+"-"+r.Version)
		stored := r.Write(path + ".json")
		err = errors.Join(err, stored)
		if stored == nil {
			err = errors.Join(err, showBench(c, r, path))
		}
	}
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case err != nil:
		return environment(fmt.Errorf("%w (logs: %s)", err, o.cfg.Logs))
	case failed(r):
		return exitError{exitUnexpected, fmt.Errorf("a contender failed (logs: %s)", o.cfg.Logs)}
	}
	if err := os.RemoveAll(o.cfg.Logs); err != nil {
		return environment(fmt.Errorf("remove logs: %w", err))
	}
	return nil
}

// failed reports whether a contender has left an error instead of figures.
func failed(r figures.Report) bool {
	for _, run := range r.Runs {
		if run.Error != "" {
			return true
		}
	}
	return false
}

// showBench writes the tables, and the plot beside the stored figures.
func showBench(c console, r figures.Report, path string) error {
	if err := benchmark.WriteText(c.out, r); err != nil {
		return environment(err)
	}
	if err := benchmark.WritePlot(path+".svg", r); err != nil {
		return environment(err)
	}
	say(c.out, "Figures: %s.json\nPlot:    %s.svg", path, path)
	return nil
}

// version names the commit that is measured; "-dirty" says that the tree has
// changes beyond it.
func version(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--abbrev=7").Output()
	if err != nil {
		return "unknown" // the sources may lie outside any repository
	}
	return strings.ReplaceAll(strings.TrimSpace(string(out)), "/", "-")
}

// benchView shows how a benchmark goes on: a line for each run that ended,
// and on a live terminal one for the run that is under way.
type benchView struct {
	t    reports.Terminal
	stop chan struct{}
	wg   sync.WaitGroup
}

func (v *benchView) note(line string) { fmt.Fprintln(v.t.W, reports.Printable(line)) }

func (v *benchView) begin(r figures.Run, n, of int) {
	if !v.t.Live {
		return
	}
	v.stop = make(chan struct{})
	v.wg.Go(func() {
		started := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(v.t.W, "\r\x1b[K%s %.0f s …", benchLabel(r, n, of), time.Since(started).Seconds())
			select {
			case <-tick.C:
			case <-v.stop:
				fmt.Fprint(v.t.W, "\r\x1b[K")
				return
			}
		}
	})
}

// close ends the line of the run that is under way, if there is one.
func (v *benchView) close() {
	if v.stop != nil {
		close(v.stop)
		v.stop = nil
	}
	v.wg.Wait()
}

func (v *benchView) end(r figures.Run, n, of int) {
	v.close()
	line := benchLabel(r, n, of) + fmt.Sprintf(" %6.1f s", r.Seconds)
	switch {
	case r.Error != "":
		line = benchLabel(r, n, of) + " failed: " + r.Error
	case r.Felt != nil:
		line += fmt.Sprintf(", p99 %.1f ms, max %.0f ms, %.0f writes/s", r.Felt.P99, r.Felt.Max, r.Felt.Throughput)
	case r.Changes > 0:
		line += fmt.Sprintf(", %.0f rows/s", float64(r.Changes)/r.Seconds)
	}
	if r.PeakBytes > 0 {
		line += fmt.Sprintf(", %d MB", r.PeakBytes>>20)
	}
	fmt.Fprintln(v.t.W, reports.Printable(line))
}

func benchLabel(r figures.Run, n, of int) string {
	return fmt.Sprintf("[%*d/%d] %-10s %-14s round %d", len(fmt.Sprint(of)), n, of, r.Phase, r.Contender, r.Round)
}
