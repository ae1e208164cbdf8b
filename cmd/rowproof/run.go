package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rowproof/harness"
	"rowproof/harness/history"
	"rowproof/harness/subject"
	"rowproof/reports"
)

// logFile holds the output of the test binary, in the suite's directory.
const logFile = "test.log"

// logLines is how much of the log is shown when the binary itself failed.
const logLines = 20

// runOptions is what `rowproof run` is asked for.
type runOptions struct {
	scenarios []string
	subjects  []string
	byDefault bool     // they are those that nobody asked for
	flags     []string // for subjects that are not ours
	repeat    int
	parallel  int
	shard     string // "2/8"; "" is all
	keep      bool
	load      string // harness.RandomLoad; "" is the scenarios' own
	seed      string // "" is a new one for each run
	out       string
}

func newRunCommand(c console) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|FILE.rp...]",
		Short: "Run scenarios and report their verdicts",
		Long: `Run scenarios and report their verdicts. SCENARIO is an id or a pattern such as
'seam-*'; without one, all scenarios run. FILE.rp is a bug report, which is a
scenario in a text file; docs/bug-report.md tells how to write one.

Each scenario runs against osc, our engine, with its own verify pass off and
on, and against the scenario's control, a copy of osc with the bug put back,
which must lose data for the scenario to mean anything. pt-online-schema-change
runs from Debian's package, unasked on those scenarios of which reports/verdicts
has its finding; gh-ost and spirit are programs that you have. Such a tool is as expected if no data is lost, whether it completes, gives up or
refuses, or if it does what reports/verdicts knows of it. A scenario that needs
a step which the tool lacks is not applicable.

The families seam and copy run on osc once more under a random load: writers in
keys of their own, columns of random types and an ALTER of them, all drawn from
the run's seed. With --load random nothing else runs, on any subject; the same
--seed draws the same. docs/random-load.md tells more.

Every run leaves a directory with its operations, marks, log and verdict, and
a page to look at: run.html. The suite's directory gets index.html, junit.xml
and results.json.

With --keep, the servers of the first run that is not as expected, or else of
the last run, stay up until Ctrl-C, and the commands to log in are shown.`,
		Example: `  rowproof run
  rowproof run seam-after-sync copy-split-read-write
  rowproof run 'seam-*' --subject osc --repeat 20 --parallel 4
  rowproof run docs/examples/seam-after-sync.rp
  rowproof run --subject gh-ost=$HOME/bin/gh-ost --subject-flag=--cut-over=two-step
  rowproof run seam-after-sync --subject mutant:range-read-trusts-attach --seed 7
  rowproof run copy-resurrect --subject osc --keep
  rowproof run 'copy-*' --load random --subject osc,control --repeat 20
  rowproof run --shard 2/8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.scenarios = args
			o.byDefault = !cmd.Flags().Changed("subject")
			return run(cmd.Context(), c, o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.subjects, "subject", []string{"osc", "control", "pt-osc"}, "what to test: osc, control, mutant:`NAME`, gh-ost=PATH, spirit=PATH, pt-osc; several with commas")
	flags.StringArrayVar(&o.flags, "subject-flag", nil, "one more `argument` for subjects that are not ours; may be repeated")
	flags.IntVar(&o.repeat, "repeat", 1, "how `often` to run each scenario")
	flags.IntVar(&o.parallel, "parallel", 1, "`number` of runs at once, each on servers of its own")
	flags.StringVar(&o.shard, "shard", "", "run only the `k/n`-th share of the scenarios, for n machines")
	flags.BoolVar(&o.keep, "keep", false, "leave the servers of one run up in the end, until Ctrl-C")
	flags.StringVar(&o.load, "load", "", "'random': run under a `random` load only (default: as each scenario says, and osc also under a random one)")
	flags.StringVar(&o.seed, "seed", "", "the `number` that all randomness comes from (default: a new one for each run)")
	flags.StringVar(&o.out, "out", "", "new or empty `directory` for the runs (default: reports/out/<time>, linked as latest)")
	return cmd
}

// run builds the scenarios, runs those that were asked for, and reports.
func run(ctx context.Context, c console, o runOptions) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	if err := o.validate(root); err != nil {
		return usage(err)
	}
	patterns, files, err := openReports(c, root, o.scenarios)
	if err != nil {
		return err
	}
	if err := o.hasSubject(files); err != nil {
		return usage(err)
	}
	tmp, err := os.MkdirTemp("", "rowproof-")
	if err != nil {
		return environment(fmt.Errorf("make temporary directory: %w", err))
	}
	defer os.RemoveAll(tmp)

	progress := reports.NewProgress(reports.NewTerminal(c.err))
	defer progress.Close()
	progress.Show(history.Event{Kind: history.EventPhase, Phase: "building the scenarios"})
	s, err := buildScenarios(ctx, root, tmp)
	if err != nil {
		return err
	}
	all, err := s.list(ctx, files)
	if err != nil {
		return err
	}
	chosen, err := choose(all, patterns, files)
	if err != nil {
		return err
	}
	if chosen, err = o.withRoom(c, chosen); err != nil {
		return err
	}
	share, err := parseShard(o.shard)
	if err != nil {
		return usage(err)
	}
	mine := share.of(chosen)
	suite, err := o.suiteDir(root)
	if err != nil {
		return err
	}
	if len(mine) == 0 { // more machines than scenarios: nothing is wrong
		progress.Close()
		say(c.out, "--shard %s: none of the %d scenarios is in it", o.shard, len(chosen))
		return emptyResults(suite)
	}
	var verdict error
	kept := false
	ended := s.runAll(ctx, plan{mine, among(files, mine)}, o, suite, func(e history.Event) {
		if e.Kind != history.EventKept {
			progress.Show(e)
			return
		}
		// Now all is known that there will be; the rest is a look.
		progress.Close()
		kept, verdict = true, conclude(ctx, c, suite, keptEnding(e))
		sayKept(c.out, e)
	})
	var failed *exec.ExitError
	switch {
	case kept && verdict == nil && errors.As(ended.err, &failed):
		sayLog(c, suite)
		return exitError{exitUnexpected, fmt.Errorf("every run is as expected, and the servers could not be removed: %w", failed)}
	case kept:
		return verdict
	}
	progress.Close()
	return conclude(ctx, c, suite, ended)
}

// withRoom returns the scenarios that can run under the load that is asked
// for, and says why the others can't.
func (o runOptions) withRoom(c console, chosen []history.Event) ([]history.Event, error) {
	if o.load == "" {
		return chosen, nil
	}
	var open []history.Event
	for _, s := range chosen {
		if s.Alone == "" {
			open = append(open, s)
		} else {
			say(c.err, "%s is left out: %s", s.Scenario, s.Alone)
		}
	}
	if len(open) == 0 {
		return nil, usage(fmt.Errorf("--load %s: none of the scenarios has room for it", o.load))
	}
	return open, nil
}

// emptyResults writes the results of no run.
func emptyResults(suite string) error {
	if err := render(suite, nil); err != nil {
		return environment(err)
	}
	return nil
}

func (o runOptions) validate(root string) error {
	if o.repeat < 1 {
		return fmt.Errorf("--repeat %d: it must be at least 1", o.repeat)
	}
	if o.parallel < 1 {
		return fmt.Errorf("--parallel %d: it must be at least 1", o.parallel)
	}
	if _, err := parseShard(o.shard); err != nil {
		return err
	}
	if o.load != "" && o.load != harness.RandomLoad {
		return fmt.Errorf("--load %s: want %s", o.load, harness.RandomLoad)
	}
	if o.seed != "" {
		if _, err := strconv.ParseUint(o.seed, 10, 64); err != nil {
			return fmt.Errorf("--seed %s: it must be a number from 0 to 2^64-1", o.seed)
		}
	}
	if len(o.subjects) == 0 {
		return errors.New("--subject: it names nothing")
	}
	for i, name := range o.subjects {
		if name == "control" {
			continue
		}
		var err error
		if o.subjects[i], err = subject.Resolve(root, name); err != nil {
			return fmt.Errorf("--subject: %w", err)
		}
	}
	return nil
}

// suiteDir makes the suite's directory. One that holds older runs is refused,
// since the report would mix the two.
func (o runOptions) suiteDir(root string) (string, error) {
	if o.out == "" {
		o.out = os.Getenv(history.OutEnv)
	}
	if o.out == "" {
		dir, err := history.SuiteDir(root, time.Now())
		if err != nil {
			return "", environment(err)
		}
		return dir, nil
	}
	dir, err := filepath.Abs(o.out)
	if err != nil {
		return "", environment(fmt.Errorf("make suite directory: %w", err))
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", usage(fmt.Errorf("--out %s: %w", o.out, err))
	case len(entries) > 0:
		return "", usage(fmt.Errorf("--out %s: the directory is not empty", o.out))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", environment(fmt.Errorf("make suite directory: %w", err))
	}
	return dir, nil
}

// ending is how the test binary ended.
type ending struct {
	err         error  // it failed, or could not be started
	environment string // what it said is missing here
}

// plan is what one call of the test binary runs.
type plan struct {
	chosen []history.Event
	files  []bugReport
}

// runAll runs the chosen scenarios and returns when all have ended.
func (s scenarios) runAll(ctx context.Context, p plan, o runOptions, suite string, see func(history.Event)) ending {
	log, err := os.Create(filepath.Join(suite, logFile))
	if err != nil {
		return ending{err: environment(fmt.Errorf("write test log: %w", err))}
	}
	defer log.Close()

	var tests []string
	for _, c := range p.chosen {
		// That of a bug report is below the one that runs all of them.
		top, _, _ := strings.Cut(c.Test, "/")
		tests = append(tests, regexp.QuoteMeta(top))
	}
	args := []string{
		"-test.run=^(" + strings.Join(tests, "|") + ")$",
		"-test.timeout=0",
		"-test.v",
	}
	subjects := strings.Join(o.subjects, ",")
	if o.byDefault {
		subjects = "" // the scenarios know
	}
	env := []string{
		history.OutEnv + "=" + suite,
		harness.SubjectEnv + "=" + subjects,
		harness.FlagsEnv + "=" + asJSON(o.flags),
		harness.LoadEnv + "=" + o.load,
		harness.SeedEnv + "=" + o.seed,
		harness.RepeatEnv + "=" + strconv.Itoa(o.repeat),
		harness.ParallelEnv + "=" + strconv.Itoa(o.parallel),
		harness.KeepEnv + "=" + map[bool]string{true: "1", false: ""}[o.keep],
		filesVariable(p.files),
	}
	var end ending
	end.err = s.start(ctx, args, env, log, func(e history.Event) {
		if e.Kind == history.EventEnvironment && end.environment == "" {
			end.environment = e.Error
		}
		see(e)
	})
	return end
}

// asJSON encodes texts, which always can be.
func asJSON(texts []string) string {
	data, err := json.Marshal(texts)
	if err != nil {
		return "[]"
	}
	return string(data)
}

// conclude reports from the run directories: they, and not the exit status of
// the test binary, say what came of the suite.
func conclude(ctx context.Context, c console, suite string, end ending) error {
	var exit exitError
	if errors.As(end.err, &exit) {
		return end.err
	}
	if end.environment != "" {
		return environment(errors.New(end.environment))
	}
	runs, err := reports.Load(suite)
	if errors.Is(err, fs.ErrNotExist) {
		if ctx.Err() != nil {
			return interrupted()
		}
		sayLog(c, suite)
		return exitError{exitUnexpected, errors.New("no scenario ran")}
	}
	if err != nil {
		return environment(err)
	}
	if err := render(suite, runs); err != nil {
		return environment(err)
	}
	verdict := show(c.out, runs)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case end.err != nil && reports.Expected(runs):
		sayLog(c, suite)
		return exitError{exitUnexpected, fmt.Errorf("every run is as expected, and still the scenarios failed: %w", end.err)}
	}
	return verdict
}

// sayLog shows the end of the test binary's output.
func sayLog(c console, suite string) {
	path := filepath.Join(suite, logFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return // the error that led here is told by the caller
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) > logLines {
		lines = lines[len(lines)-logLines:]
	}
	for _, line := range lines {
		say(c.err, "  %s", reports.Printable(line))
	}
	say(c.err, "The whole log: %s", path)
}
