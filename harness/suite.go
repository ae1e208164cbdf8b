package harness

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// Names of environment variables that choose what a suite does, beside those
// of package history. The rowproof command sets them.
const (
	ListEnv     = "ROWPROOF_LIST"          // 1: name the scenarios, run nothing
	SubjectEnv  = "ROWPROOF_SUBJECT"       // osc, control, mutant:NAME, gh-ost=PATH, spirit=PATH, pt-osc, with commas; default osc,control,pt-osc
	FlagsEnv    = "ROWPROOF_SUBJECT_FLAGS" // more arguments for subjects that are not ours: a JSON list of texts
	LoadEnv     = "ROWPROOF_LOAD"          // random: run only under a random load; default as scenarios are, and osc also under one
	SeedEnv     = "ROWPROOF_SEED"          // the seed of every run; default a new one each
	RepeatEnv   = "ROWPROOF_REPEAT"        // how often to run each scenario; default 1
	ParallelEnv = "ROWPROOF_PARALLEL"      // how many runs go on at once, each on a cluster of its own; default 1
	KeepEnv     = "ROWPROOF_KEEP"          // 1: leave a cluster up in the end, until an interrupt
)

// Suite is what the scenarios of one test process share.
type Suite struct {
	events   *history.Events
	dir      string
	list     bool
	wanted   []string
	asked    bool     // somebody asked for them
	flags    []string // for subjects that are not ours
	known    check.Findings
	versions versions // of subjects that are not ours
	load     string   // RandomLoad: nothing runs without one
	seed     uint64   // 0: a new one for each run
	repeat   int
	parallel int
	build    *subject.Build
	pool     topology.Pool
	shelf    *shelf // nil: no cluster is left up
}

// Main runs the tests of a package of scenarios with a new suite, and is all
// that its TestMain needs. It returns the exit status.
func Main(m *testing.M, suite **Suite) int {
	s, err := newSuite()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rowproof:", err)
		return 1
	}
	*suite = s
	// Once and in one line, not once for each test.
	if err := s.ensureImage(context.Background()); err != nil {
		s.events.Send(history.Event{Kind: history.EventEnvironment, Error: err.Error()})
		fmt.Fprintln(os.Stderr, "rowproof:", err)
		return 1
	}
	status := m.Run()
	if err := s.showKept(context.Background(), status != 0); err != nil {
		fmt.Fprintln(os.Stderr, "rowproof: keep the cluster:", err)
		status = 1
	}
	if err := s.close(); err != nil {
		fmt.Fprintln(os.Stderr, "rowproof: clean up:", err)
		return 1
	}
	return status
}

func newSuite() (s *Suite, err error) {
	s = &Suite{list: os.Getenv(ListEnv) == "1", wanted: []string{"osc", "control", ptOsc}}
	if s.events, err = history.OpenEvents(); err != nil {
		return nil, err
	}
	if names := os.Getenv(SubjectEnv); names != "" {
		s.wanted, s.asked = strings.Split(names, ","), true
	}
	if s.load = os.Getenv(LoadEnv); s.load != "" && s.load != RandomLoad {
		return nil, fmt.Errorf("read %s: %q is no load, want %s", LoadEnv, s.load, RandomLoad)
	}
	if text := os.Getenv(SeedEnv); text != "" {
		if s.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, fmt.Errorf("read %s: %q is no number", SeedEnv, text)
		}
	}
	if s.repeat, err = count(RepeatEnv); err != nil {
		return nil, err
	}
	if s.parallel, err = count(ParallelEnv); err != nil {
		return nil, err
	}
	s.pool.Idle = max(s.parallel, 4)
	// By itself the test framework takes the number of processors, but runs
	// mostly wait. What stands on the command line is read later and wins.
	if err := flag.Set("test.parallel", strconv.Itoa(s.parallel)); err != nil {
		return nil, fmt.Errorf("set -test.parallel: %w", err)
	}
	if os.Getenv(KeepEnv) == "1" {
		s.shelf = new(shelf)
	}
	if text := os.Getenv(FlagsEnv); text != "" {
		if err := json.Unmarshal([]byte(text), &s.flags); err != nil {
			return nil, fmt.Errorf("read %s: want a JSON list of texts: %w", FlagsEnv, err)
		}
	}
	if s.list {
		return s, nil
	}
	root, err := subject.ModuleRoot()
	if err != nil {
		return nil, err
	}
	if s.known, err = check.LoadFindings(root); err != nil {
		return nil, err
	}
	if s.build, err = subject.NewBuild(root); err != nil {
		return nil, err
	}
	for _, name := range s.wanted {
		if name == "control" {
			continue
		}
		if _, err := subject.Parse(s.build, name); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", SubjectEnv, err), s.build.Close())
		}
	}
	if s.dir, err = history.SuiteDir(root, time.Now()); err != nil {
		return nil, errors.Join(err, s.build.Close())
	}
	return s, nil
}

// count reads a variable that holds a number from 1; it is 1 if it isn't set.
func count(variable string) (int, error) {
	text := os.Getenv(variable)
	if text == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("read %s: %q is no number from 1", variable, text)
	}
	return n, nil
}

func (s *Suite) close() error {
	if s.list {
		return nil
	}
	return errors.Join(s.pool.Close(), s.build.Close())
}

// Run runs a scenario against every subject that the environment asks for.
func (s *Suite) Run(t *testing.T, scenario Scenario) {
	t.Helper()
	if err := scenario.validate(); err != nil {
		t.Fatal(err)
	}
	control := ""
	if scenario.Control != "" {
		control = history.MutantPrefix + scenario.Control
	}
	if s.list {
		s.events.Send(history.Event{
			Kind: history.EventScenario, Scenario: scenario.ID, Test: t.Name(), Bug: scenario.Bug,
			Guards: string(scenario.Guards), Control: control, Reports: scenario.Reports, Alone: scenario.alone(),
		})
		return
	}
	if why := scenario.alone(); s.load == RandomLoad && why != "" {
		t.Skipf("%s: no random load: %s", scenario.ID, why)
	}
	s.share(t)
	for range s.repeat {
		for _, run := range s.runs(control, scenario) {
			t.Run(run.title(), func(t *testing.T) {
				s.share(t)
				s.one(t, scenario, run)
			})
		}
	}
}

// share lets a test go on beside others, if runs may.
func (s *Suite) share(t *testing.T) {
	if s.parallel > 1 {
		t.Parallel()
	}
}

// Measure runs a scenario on our engine with its verify pass, once per
// iteration, and reports the engine's time, its peak memory, and how many
// rows it brought over a second. It fails unless every run is Valid.
func (s *Suite) Measure(b *testing.B, scenario Scenario) {
	b.Helper()
	if err := scenario.validate(); err != nil {
		b.Fatal(err)
	}
	var took, peak float64
	for b.Loop() {
		record := s.one(b, scenario, variant{subject: "osc", verify: true, expect: scenario.Expect})
		took += record.Exit.At.Seconds()
		peak = max(peak, float64(record.Exit.PeakRSS)/(1<<20))
	}
	b.ReportMetric(took/float64(b.N), "s/migration")
	b.ReportMetric(float64(scenario.Table.Rows)*float64(b.N)/took, "rows/s")
	b.ReportMetric(peak, "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// variant is one way to run a scenario.
type variant struct {
	subject string
	verify  bool   // with the subject's own verify pass
	control bool   // it must be found Invalid for what the scenario guards
	random  bool   // under a random load
	expect  string // the outcome
}

func (v variant) title() string {
	name, _, _ := strings.Cut(v.subject, "=") // without the path of a program
	if v.verify {
		name += "-verify"
	}
	if v.random {
		name += "-random"
	}
	return name
}

// ptOsc is the subject that needs an image of its own.
const ptOsc = "pt-osc"

// runs lists the variants. The algorithm runs bare, for a verify pass would
// turn a loss into an abort; that it does so is a finding of its own, unless
// the scenario says that it can't. A tool that nobody asked for repeats its
// known findings, and makes no new ones.
//
// Where the scenario has room for it, our engine runs once more under a random
// load, bare.
func (s *Suite) runs(control string, scenario Scenario) []variant {
	var list []variant
	for _, name := range s.wanted {
		if name == "control" {
			if name = control; name == "" {
				continue
			}
		}
		if name == ptOsc && !s.asked && !s.known.Has(scenario.ID, ptOsc) {
			continue
		}
		isControl := name == control
		if s.load == RandomLoad {
			list = append(list, variant{subject: name, verify: scenario.OnlyVerified, control: isControl, random: true, expect: scenario.Expect})
			continue
		}
		if !scenario.OnlyVerified {
			list = append(list, variant{subject: name, control: isControl, expect: scenario.Expect})
		}
		verified := variant{subject: name, verify: true, expect: scenario.Expect}
		switch {
		case isControl && (scenario.OnlyVerified || scenario.Unverified):
			verified.control = true
		case isControl:
			verified.expect = Aborted
		}
		if name == "osc" || isControl || scenario.OnlyVerified {
			list = append(list, verified)
		}
		if name == "osc" && scenario.Room.Open() {
			list = append(list, variant{subject: name, random: true, expect: scenario.Expect})
		}
	}
	return list
}

func (s *Suite) newSeed() uint64 {
	for s.seed == 0 {
		if seed := rand.Uint64(); seed != 0 {
			return seed
		}
	}
	return s.seed
}

// ensureImage builds the images that are missing, which is the first thing
// that needs a Docker engine.
func (s *Suite) ensureImage(ctx context.Context) error {
	if s.list {
		return nil
	}
	_, err := topology.EnsureImage(ctx, phaseLines{s.events})
	if err == nil && slices.Contains(s.wanted, ptOsc) {
		_, err = topology.EnsureToolImage(ctx, phaseLines{s.events})
	}
	if err != nil {
		return fmt.Errorf("this machine can't run scenarios: %w", err)
	}
	return nil
}

// phaseLines sends each line that is written to it as a phase of the suite.
type phaseLines struct{ events *history.Events }

func (p phaseLines) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		p.events.Send(history.Event{Kind: history.EventPhase, Phase: strings.TrimSpace(line)})
	}
	return len(data), nil
}
