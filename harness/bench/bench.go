// Package bench times schema-migration tools beside each other, on one server
// in one run: how long the whole job takes, how fast a backlog of changes is
// applied, and what the application feels meanwhile.
//
// Read Run: it goes through the phases, each in rounds of all contenders
// (A B C, A B C), so that whatever changes on the machine over time meets all
// of them. A contender (contender.go) is a way to do the job: our engine and
// foreign tools as child processes, the server's own ALTER as a statement.
// Before each run, the site (site.go) is as before the first: the same rows,
// no leftovers, nothing for the server to catch up with. load.go is the
// application, backlog.go the pile of changes. What came of it is a
// figures.Report.
package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"rowproof/harness/bench/figures"
)

// Alter is the job, the same for all: a rebuild that changes nothing. It is
// what the server itself can do in every way, and what leaves the table ready
// for the next contender.
const Alter = "ENGINE=InnoDB"

// Watch is told how the benchmark goes on. Any of its functions may be nil.
type Watch struct {
	Note  func(line string)              // something that a person should know
	Begin func(r figures.Run, n, of int) // a measurement begins: its phase, contender and round
	End   func(r figures.Run, n, of int) // it has ended, with its figures
}

// Run measures everything that the configuration asks for. With an error
// comes what was measured until then.
func Run(ctx context.Context, cfg Config, w Watch) (figures.Report, error) {
	if err := cfg.Validate(); err != nil {
		return figures.Report{}, err
	}
	cfg = cfg.withDefaults()
	b := &bench{cfg: cfg, watch: w.filled()}
	err := b.open(ctx)
	if err == nil {
		err = b.measure(ctx)
	}
	return b.report, errors.Join(err, b.close())
}

func (w Watch) filled() Watch {
	if w.Note == nil {
		w.Note = func(string) {}
	}
	if w.Begin == nil {
		w.Begin = func(figures.Run, int, int) {}
	}
	if w.End == nil {
		w.End = func(figures.Run, int, int) {}
	}
	return w
}

type bench struct {
	cfg    Config
	watch  Watch
	site   *site
	tools  tools
	report figures.Report
}

// measurement is one run that is to be done.
type measurement struct {
	phase     figures.Phase
	contender contender
	run       func(ctx context.Context, c contender) (figures.Run, error)
}

func (b *bench) open(ctx context.Context) (err error) {
	b.report = figures.Report{
		Schema: figures.Schema, Started: time.Now().UTC().Truncate(time.Second), Version: b.cfg.Version,
		Machine: figures.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()},
		Alter:   Alter, Repeat: b.cfg.Repeat,
	}
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil { // a figure to read, no more
		b.report.Machine.MemoryBytes = memory.Total
	}
	b.watch.Note("starting the server and filling the table")
	if b.site, err = openSite(ctx, b.cfg.Rows); err != nil {
		return err
	}
	b.report.Server = b.site.describeServer()
	if b.report.Table, err = b.site.describeTable(ctx); err != nil {
		return err
	}
	b.watch.Note("building osc")
	return b.tools.open(ctx, b.cfg, b.site)
}

func (b *bench) close() error {
	err := b.tools.close()
	if b.site != nil {
		err = errors.Join(err, b.site.close())
	}
	return err
}

// measure goes through the phases.
func (b *bench) measure(ctx context.Context) error {
	b.report.LeftOut = b.tools.leftOut
	for _, line := range b.tools.leftOut {
		b.watch.Note("left out: " + line)
	}
	plan := b.plan()
	for _, p := range plan {
		for _, m := range p.measurements {
			c := figures.Contender{Name: m.contender.name, Command: m.contender.command}
			if !slices.Contains(b.report.Contenders, c) {
				b.report.Contenders = append(b.report.Contenders, c)
			}
		}
	}
	total := 0
	for _, p := range plan {
		total += len(p.measurements) * b.cfg.Repeat
	}
	if total == 0 {
		return errors.New("--only leaves nothing to measure")
	}
	done := 0
	for _, p := range plan {
		if err := b.site.index(ctx, p.indexes); err != nil {
			return err
		}
		for round := 1; round <= b.cfg.Repeat; round++ {
			for _, m := range p.measurements {
				done++
				if err := b.once(ctx, m, round, done, total); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// part is a phase with what is measured in it.
type part struct {
	indexes      []string // secondary indexes that the table has beside its own
	measurements []measurement
}

// plan returns the phases that have something to do.
func (b *bench) plan() []part {
	var plan []part
	add := func(phase figures.Phase, indexes []string, contenders []contender, run func(context.Context, contender) (figures.Run, error)) {
		p := part{indexes: indexes}
		for _, c := range contenders {
			if b.cfg.wants(phase, c.name) {
				p.measurements = append(p.measurements, measurement{phase, c, run})
			}
		}
		if len(p.measurements) > 0 {
			plan = append(plan, p)
		}
	}
	all := b.tools.contenders()
	add(figures.Whole, nil, all, b.whole)
	add(figures.Indexes, moreIndexes(), all, b.whole)
	add(figures.Backlog, nil, b.tools.streamers(), b.backlog)
	for _, rate := range b.cfg.Rates {
		run := func(ctx context.Context, c contender) (figures.Run, error) { return b.load(ctx, c, rate) }
		add(loadPhase(rate), nil, append([]contender{idle(b.cfg.Calm)}, all...), run)
	}
	return plan
}

// once does one measurement. A contender that fails leaves its error in the
// report; only what the bench itself can't do ends it.
func (b *bench) once(ctx context.Context, m measurement, round, n, of int) error {
	head := figures.Run{Phase: m.phase, Contender: m.contender.name, Round: round}
	b.watch.Begin(head, n, of)
	if err := b.site.reset(ctx); err != nil {
		return err
	}
	run, err := m.run(ctx, m.contender)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		run = figures.Run{Error: err.Error()}
	}
	run.Phase, run.Contender, run.Round = head.Phase, head.Contender, head.Round
	b.report.Runs = append(b.report.Runs, run)
	b.watch.End(run, n, of)
	return nil
}

// whole times a contender from its start to its end.
func (b *bench) whole(ctx context.Context, c contender) (figures.Run, error) {
	before, err := b.site.tableID(ctx)
	if err != nil {
		return figures.Run{}, err
	}
	idle, err := b.site.server.CPU(ctx)
	if err != nil {
		return figures.Run{}, err
	}
	started := time.Now()
	used, err := c.run(ctx)
	took := time.Since(started)
	if err != nil {
		return figures.Run{}, err
	}
	busy, err := b.site.server.CPU(ctx)
	if err != nil {
		return figures.Run{}, err
	}
	// A tool that finds a shorter way has not done the same job.
	after, err := b.site.tableID(ctx)
	if err == nil && before == after && c.name != figures.None {
		err = fmt.Errorf("%s did not rebuild the table", c.name)
	}
	return figures.Run{
		Seconds: took.Seconds(), PeakBytes: used.peakBytes, CPU: used.cpu.Seconds(), ServerCPU: (busy - idle).Seconds(),
	}, err
}
