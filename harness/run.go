package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// run is one run of a scenario. Each part is set by the step behind it.
type run struct {
	suite    *Suite
	scenario Scenario
	variant  variant
	seed     uint64
	under    subject.Subject // open
	began    time.Time
	dir      string
	record   *history.Record
	entered  time.Time         // the phase that is going on
	recorder *history.Recorder // migrate

	cluster   *topology.Cluster // prepare
	inventory observe.Inventory
	from      map[string]observe.Position // of the binlog of each server: any may be the source in the end
	before    observe.Definition
	dirty     bool // the cluster is not worth keeping

	second sync.WaitGroup // migrate: of subjects beside the first
}

// one runs a variant of a scenario and fails the test unless it ends as the
// scenario demands.
func (s *Suite) one(t testing.TB, scenario Scenario, v variant) *history.Record {
	t.Helper()
	began := time.Now()
	seed := s.newSeed()
	if v.random {
		scenario = scenario.underRandomLoad(seed)
		t.Logf("random load from seed %d: ALTER TABLE %s %s", seed, scenario.Table.Name, scenario.Alter)
	}
	r := &run{suite: s, scenario: scenario, variant: v, seed: seed, began: began, entered: began}
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), scenario.limit())
	defer cancel()
	var err error
	if len(r.record.Missing) == 0 {
		err = r.do(ctx)
	}
	if err != nil {
		r.record.Observed.Errors = append(r.record.Observed.Errors, err.Error())
	}
	c, err := r.conclude()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.keep(t.Context(), c.Expected); err != nil {
		t.Fatal(err)
	}
	if c.Judgement.Verdict == check.NotApplicable {
		t.Skipf("%s: not applicable: %s", scenario.ID, strings.Join(c.Judgement.Reasons(), "; "))
	}
	if !c.Expected {
		t.Errorf("%s on %s: %s\n%s\nrun directory: %s\nrepeat: %s",
			scenario.ID, v.title(), c.Reason, findings(c.Judgement), r.dir, r.record.Repeat)
	}
	return r.record
}

// open makes the run directory and a first record, so that a run which dies
// is not missed.
func (r *run) open() (err error) {
	s, v := r.scenario, r.variant
	if r.under, err = subject.Parse(r.suite.build, v.subject); err != nil {
		return err
	}
	if resumer, can := r.under.(subject.Resumer); can && s.resumes() {
		r.under = resumer.Resumable()
	}
	name, load := r.under.Name(), ""
	if v.random {
		name, load = name+"-"+RandomLoad, RandomLoad
	}
	if r.dir, err = history.NewRunDir(r.suite.dir, s.ID, name, v.verify); err != nil {
		return err
	}
	r.record = &history.Record{
		Scenario: s.ID, Subject: r.under.Name(), Verify: v.verify, Control: v.control,
		Load: load, Seed: r.seed, Started: r.began, Bug: s.Bug,
		Expect: v.expect, Guards: string(s.Guards), Planned: s.plan().Names(), Unproven: s.Control == "",
		Table: history.Table{Schema: topology.Database, Name: s.Table.Name, Key: s.Table.Key, Alter: s.Alter, Rows: s.Table.Rows, Renames: s.Renames},
	}
	r.record.Repeat = "go run ./cmd/rowproof run " + s.argument()
	if load != "" {
		r.record.Repeat += " --load " + load
	}
	r.record.Repeat += fmt.Sprintf(" --subject %s --seed %d", shellQuote(v.subject), r.seed)
	if _, foreign := r.under.(subject.Foreign); foreign {
		r.record.Foreign, r.record.Flags = true, r.suite.flags
		r.record.Repeat += repeatFlags(r.suite.flags)
	}
	r.record.Missing = r.missing()
	r.send(history.Event{Kind: history.EventRunStart})
	return history.Save(r.dir, r.record)
}

func (r *run) send(e history.Event) {
	e.Scenario, e.Subject, e.Verify, e.Load, e.Dir = r.scenario.ID, r.record.Subject, r.variant.verify, r.record.Load, r.dir
	r.suite.events.Send(e)
}

// phase tells that a phase begins, and ends the one before it.
func (r *run) phase(name string) {
	r.endPhase()
	r.record.Phases = append(r.record.Phases, history.Phase{Name: name})
	r.send(history.Event{Kind: history.EventRunPhase, Phase: name})
}

// endPhase notes how long the phase took that is going on.
func (r *run) endPhase() {
	now := time.Now()
	if n := len(r.record.Phases); n > 0 {
		r.record.Phases[n-1].Seconds = history.Seconds(now.Sub(r.entered))
	}
	r.entered = now
}

// do runs the subject and observes what it left. An error means that the run
// could not be carried through; what was seen until then is in the record.
func (r *run) do(ctx context.Context) (err error) {
	r.phase("starting the cluster")
	if r.cluster, err = r.suite.pool.Get(ctx, specFor(r.scenario.Cluster, r.under)); err != nil {
		return fmt.Errorf("start cluster: %w", err)
	}
	defer func() {
		r.dirty = err != nil
		if r.suite.shelf == nil {
			r.phase("resetting the cluster")
			err = errors.Join(err, r.giveBack(ctx))
		}
	}()
	r.phase("loading the table")
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if err := r.migrate(ctx); err != nil {
		return err
	}
	r.phase("comparing tables")
	return r.observe(ctx)
}

// giveBack returns the cluster to the pool.
func (r *run) giveBack(ctx context.Context) error {
	// A fresh context: the run's may be what ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return r.suite.pool.Put(ctx, r.cluster, !r.dirty)
}

// prepare loads the table and notes how things stand.
func (r *run) prepare(ctx context.Context) (err error) {
	source := r.cluster.Source()
	for _, server := range r.cluster.Servers() {
		r.record.Servers = append(r.record.Servers, history.Server{
			Name: server.Name, Version: server.Version, Options: serverOptions(r.cluster.Spec()),
		})
	}
	if _, err := source.DB.ExecContext(ctx, "CREATE DATABASE "+workload.Quote(topology.Database)); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	if err := r.scenario.Table.Load(ctx, source.DB, topology.Database); err != nil {
		return err
	}
	// Tools cut chunks by the number of rows that the statistics tell, which
	// the server would count anew at a moment of its own.
	if _, err := source.DB.ExecContext(ctx, "ANALYZE TABLE "+r.table().Quoted()); err != nil {
		return fmt.Errorf("count the rows of %s: %w", r.table().Name, err)
	}
	if err := r.cluster.WaitReplicated(ctx); err != nil {
		return err
	}
	if r.inventory, err = observe.TakeInventory(ctx, source.DB, account(r.under).User); err != nil {
		return err
	}
	if r.before, err = observe.Describe(ctx, source.DB, r.table()); err != nil {
		return err
	}
	if r.record.Table.Initial, err = r.initial(ctx); err != nil {
		return err
	}
	r.from = make(map[string]observe.Position)
	for _, server := range r.cluster.Servers() {
		if r.from[server.Name], err = observe.BinlogEnd(ctx, server.DB); err != nil {
			return err
		}
	}
	return nil
}

// smallTable is up to how many rows a record holds a table whole.
const smallTable = 10_000

func (r *run) initial(ctx context.Context) ([]history.Row, error) {
	db := r.cluster.Source().DB
	if r.scenario.Table.Rows <= smallTable {
		return observe.All(ctx, db, r.table(), smallTable)
	}
	found, err := observe.Rows(ctx, db, r.table(), append(r.load().Keys(), r.scenario.plan().Keys()...))
	var rows []history.Row
	for _, row := range found {
		rows = append(rows, row)
	}
	return rows, err
}

func (r *run) table() observe.TableRef {
	return observe.TableRef{Schema: topology.Database, Name: r.scenario.Table.Name}
}

// load is the scenario's load with what every run has: its table, its seed,
// and a reader that would see the table missing.
func (r *run) load() workload.Load {
	load := r.scenario.Load
	load.Table, load.Seed = r.scenario.Table, r.record.Seed
	load.Readers = max(load.Readers, 1)
	load.Leave = slices.Concat(load.Leave, r.scenario.plan().Keys())
	return load
}

func serverOptions(spec topology.Spec) map[string]string {
	onOff := map[bool]string{true: "ON", false: "OFF"}
	options := map[string]string{
		"gtid_mode": onOff[spec.GTID], "rpl_semi_sync": onOff[spec.SemiSync], "performance_schema": onOff[spec.PerformanceSchema],
	}
	for _, o := range spec.Options {
		name, value, _ := strings.Cut(strings.TrimLeft(o, "-"), "=")
		options[name] = value
	}
	return options
}

// migrate runs the subject under the scenario's load and faults.
func (r *run) migrate(ctx context.Context) (err error) {
	r.phase("building the subject")
	// The first command builds the program, or starts its container: that
	// belongs before time zero.
	if _, err := r.under.Command(ctx, subject.Target{}); err != nil {
		return err
	}
	if tool, ok := r.under.(subject.Foreign); ok {
		if r.record.Version, err = r.suite.versions.of(ctx, r.variant.subject, tool); err != nil {
			return err
		}
	}
	r.phase("migrating")
	r.recorder = history.NewRecorder()
	r.record.Started = r.recorder.Started()
	defer func() { r.record.Ops, r.record.Marks = r.recorder.Ops(), r.recorder.Marks() }()
	site, closeSite, err := r.openSite(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSite()) }()
	load, err := r.load().Start(ctx, site.App, r.recorder)
	if err != nil {
		return err
	}
	errs := []error{r.attempts(ctx, subject.Target{
		Table: r.scenario.Table.Name, Alter: r.scenario.Alter, Verify: r.variant.verify,
		Chunk: r.scenario.Chunk, Threads: r.scenario.Threads, LockWait: r.scenario.LockWait, Count: r.scenario.Counted, GTID: r.scenario.ByGTID,
		Extra: r.record.Flags,
	}, site)}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if errors.Join(errs...) != nil {
		errs = append(errs, r.unblock(finish))
	}
	errs = append(errs, site.Finish(finish))
	r.second.Wait()
	_, stopped := load.Stop()
	r.settleRefused()
	return errors.Join(append(errs, stopped, site.Proxy.Err())...)
}

// unblock lets replication go on after a run that failed half-way, so that
// no write waits for ever.
func (r *run) unblock(ctx context.Context) error {
	var errs []error
	for _, replica := range r.cluster.Replicas() {
		errs = append(errs, replica.StartIO(ctx), replica.StartSQL(ctx))
	}
	return errors.Join(errs...)
}

// await runs the subject to its end and records that.
func (r *run) await(ctx context.Context, command subject.Command, site *fault.Site) error {
	process, err := subject.Start(ctx, command, filepath.Join(r.dir, history.SubjectLogFile))
	if err != nil {
		return err
	}
	site.Started(process)
	started := history.Mark{Lane: "subject", Name: history.MarkSubjectStart, Text: strings.Join(command.Argv, " ")}
	if r.scenario.Zone != "" {
		started.Data = map[string]string{"zone": r.scenario.Zone}
	}
	r.recorder.Mark(started)
	// The process is killed when ctx ends; its end is then awaited too.
	result, err := process.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	r.record.Exit = result.Exit
	r.record.Exit.At = r.recorder.Now()
	r.record.Exit.PeakRSS = result.PeakRSS
	r.recorder.Mark(exitMark("subject", result.Exit))
	if ctx.Err() != nil {
		return fmt.Errorf("the subject did not end within %v", r.scenario.limit())
	}
	return nil
}

func exitMark(lane string, exit history.Exit) history.Mark {
	return history.Mark{Lane: lane, Name: history.MarkSubjectExit, Text: exit.Message, Data: map[string]string{
		"outcome": exit.Outcome, "code": strconv.Itoa(exit.Code), "signal": exit.Signal,
	}}
}

// secondLane is the lane of a subject that runs beside the first.
const secondLane = "subject-2"

// startSecond starts the subject once more. How it ends is a mark in the
// record; r.second waits for that.
func (r *run) startSecond(ctx context.Context, command subject.Command) (fault.Subject, error) {
	process, err := subject.Start(ctx, command, filepath.Join(r.dir, history.SecondLogFile))
	if err != nil {
		return nil, err
	}
	r.recorder.Mark(history.Mark{Lane: secondLane, Name: history.MarkSubjectStart, Text: strings.Join(command.Argv, " ")})
	r.second.Go(func() {
		result, err := process.Wait(context.WithoutCancel(ctx))
		if err != nil {
			result.Exit.Message = err.Error()
		}
		r.recorder.Mark(exitMark(secondLane, result.Exit))
	})
	return process, nil
}

// openSite opens what faults act on. The subject reaches the source through
// the proxy and a link, the application through a link of its own.
func (r *run) openSite(ctx context.Context) (*fault.Site, func() error, error) {
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	fail := func(err error) (*fault.Site, func() error, error) { return nil, nil, errors.Join(err, closeAll()) }

	source := r.cluster.Source()
	subjectLink, err := topology.NewLink(source.Addr)
	if err != nil {
		return fail(err)
	}
	closers = append(closers, subjectLink.Close)
	appLink, err := topology.NewLink(source.Addr)
	if err != nil {
		return fail(err)
	}
	closers = append(closers, appLink.Close)
	statements, err := os.Create(filepath.Join(r.dir, history.StatementsFile))
	if err != nil {
		return fail(err)
	}
	closers = append(closers, statements.Close)
	proxy, err := wire.Listen(context.WithoutCancel(ctx), wire.Config{
		Upstream: subjectLink.Addr, Phrasebook: r.under.Phrasebook(), Recorder: r.recorder, Log: statements,
		StreamTables: []string{topology.Database + "." + r.scenario.Table.Name},
	})
	if err != nil {
		return fail(err)
	}
	closers = append(closers, proxy.Close)
	config := source.Config(topology.App(), topology.Database)
	config.Addr = appLink.Addr
	app, err := openDB(config)
	if err != nil {
		return fail(err)
	}
	closers = append(closers, app.Close)
	names := tablesOf(r.under, r.scenario.Table.Name)
	return &fault.Site{
		Cluster: r.cluster, Proxy: proxy, Links: fault.Links{Subject: subjectLink, App: appLink}, App: app,
		Table: r.scenario.Table, Schema: topology.Database, Recorder: r.recorder,
		Names: fault.Names{Shadow: names.Shadow, Old: names.Old}, Start: r.from[source.Name],
	}, closeAll, nil
}

// tablesOf is what a subject calls its tables, as far as that can be told.
func tablesOf(under subject.Subject, table string) subject.Tables {
	if namer, ok := under.(subject.TableNamer); ok {
		return namer.Tables(table)
	}
	return subject.Tables{}
}

// conclude judges the run and stores everything.
func (r *run) conclude() (check.Conclusion, error) {
	r.phase("judging")
	judgement := check.Judge(r.record)
	r.endPhase()
	c := check.Conclude(r.record, judgement, r.suite.known, history.Seconds(time.Since(r.began)))
	r.send(history.Event{
		Kind: history.EventRunEnd, Verdict: string(judgement.Verdict), Expected: c.Expected, Seconds: c.Seconds,
		Anomaly: string(judgement.Headline(check.Kind(r.record.Guards))),
	})
	return c, errors.Join(history.Save(r.dir, r.record), check.SaveConclusion(r.dir, c))
}

func findings(j check.Judgement) string {
	var lines []string
	for _, a := range j.Anomalies() {
		lines = append(lines, "  "+string(a.Kind)+": "+a.Text)
	}
	for _, why := range j.Reasons() {
		lines = append(lines, "  unknown: "+why)
	}
	return strings.Join(lines, "\n")
}

func hostPort(addr string) (string, int, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("read address: %w", err)
	}
	port, err := strconv.Atoi(text)
	return host, port, err
}
