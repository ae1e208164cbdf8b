// Package reports shows what runs came to: as a table in a terminal, with the
// story of each Invalid run below it, as JUnit XML, as JSON, as annotations for
// GitHub, and as live progress while runs go on. Pages and Markdown are made by
// the packages below.
//
// Read Run first: it is a run directory as far as a report needs it. The
// package knows only run directories, so a stored run can be shown again.
package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// Run is one run directory.
type Run struct {
	Dir        string
	Record     *history.Record // without operations, marks and observations
	Conclusion check.Conclusion
}

// Load reads the run directories under each of dirs, in the order in which
// they are shown. A run that ended before it was judged is Unknown.
func Load(dirs ...string) ([]Run, error) {
	var runs []Run
	seen := map[string]bool{}
	for _, dir := range dirs {
		found, err := history.RunDirs(dir)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("load runs: %s holds no run directory: %w", dir, fs.ErrNotExist)
		}
		for _, dir := range found {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			run, err := loadRun(dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, compareRuns)
	return runs, nil
}

func loadRun(dir string) (Run, error) {
	r := new(history.Record)
	if err := history.ReadJSON(filepath.Join(dir, history.RunFile), r); err != nil {
		return Run{}, err
	}
	if r.Format != history.FormatVersion {
		return Run{}, fmt.Errorf("load run %s: run format %d, this version reads %d", dir, r.Format, history.FormatVersion)
	}
	c, err := check.LoadConclusion(dir)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = unjudged(r), nil
	}
	return Run{Dir: dir, Record: r, Conclusion: c}, err
}

// unjudged is the conclusion of a run that ended before it was judged.
func unjudged(r *history.Record) check.Conclusion {
	const why = "the run ended without a verdict"
	return check.Conclusion{
		Judgement: check.Judgement{
			Scenario: r.Scenario, Subject: r.Subject, Verdict: check.Unknown,
			Results: []check.Result{{Checker: "run", Verdict: check.Unknown, Unknown: []string{why}}},
		},
		Control: r.Control,
		Reason:  why,
	}
}

// Judge judges a stored run with the checkers of this version, and by what is
// known of other tools today, and stores the new verdict. A run that ended
// before it was judged is left as it is if too little was stored of it.
func Judge(dir string, known check.Findings) (Run, error) {
	before, err := loadRun(dir)
	if err != nil {
		return Run{}, err
	}
	r, err := history.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return before, nil
	}
	if err != nil {
		return Run{}, err
	}
	c := check.Conclude(r, check.Judge(r), known, before.Conclusion.Seconds)
	if err := check.SaveConclusion(dir, c); err != nil {
		return Run{}, err
	}
	return loadRun(dir)
}

// Expected reports whether runs were made and each ended as its scenario
// demands. Where no scenario was applicable, nothing was shown.
func Expected(runs []Run) bool {
	good, bad, _ := count(runs)
	return good > 0 && bad == 0
}

// count returns how many runs ended as their scenario demands, how many did
// not, and how many were not made since their scenario was not applicable.
func count(runs []Run) (good, bad, without int) {
	for _, r := range runs {
		switch {
		case r.notApplicable():
			without++
		case r.Conclusion.Expected:
			good++
		default:
			bad++
		}
	}
	return good, bad, without
}

func (r Run) notApplicable() bool { return r.Conclusion.Judgement.Verdict == check.NotApplicable }

// SubjectName is how a report names the run's subject: with the version and
// the flags of a tool that is not ours.
func (r Run) SubjectName() string {
	return subjectName(r.Record.Subject, r.Record.Version, r.Record.Flags, r.Record.Verify, r.Record.Load)
}

// EventSubject is how a report names the subject of a run that goes on.
func EventSubject(e history.Event) string {
	return subjectName(e.Subject, "", nil, e.Verify, e.Load)
}

func subjectName(subject, version string, flags []string, verify bool, load string) string {
	words := []string{subject}
	if version != "" {
		words = append(words, version)
	}
	words = append(words, flags...)
	if verify {
		words = append(words, "+verify")
	}
	if load != "" {
		words = append(words, "+"+load)
	}
	return Printable(strings.Join(words, " "))
}

// VerdictText is the verdict with what was wanted, where that is not plain.
func (r Run) VerdictText() string {
	v := string(r.Conclusion.Judgement.Verdict)
	switch {
	case r.Conclusion.Known != nil:
		return v + " (as known)"
	case r.Record.Control && r.Conclusion.Expected:
		return v + " (as it must)"
	case r.Record.Control && r.Conclusion.Judgement.Verdict != check.Invalid:
		return v + " (must be " + string(check.Invalid) + ")"
	case r.Record.Control:
		return v + " (not as it must)"
	}
	return v
}

// Anomaly is the anomaly that a table shows for the run; "" if there is none.
func (r Run) Anomaly() string {
	return string(r.Conclusion.Judgement.Headline(check.Kind(r.Record.Guards)))
}

// Anomalies are all that was found wrong, what the scenario exists for first.
func (r Run) Anomalies() []check.Anomaly {
	var first, rest []check.Anomaly
	for _, a := range r.Conclusion.Judgement.Anomalies() {
		if a.Kind == check.Kind(r.Record.Guards) {
			first = append(first, a)
		} else {
			rest = append(rest, a)
		}
	}
	return append(first, rest...)
}

// number is the run's place among the repeats of the same run.
func (r Run) number() int {
	n, err := strconv.Atoi(filepath.Base(r.Dir))
	if err != nil { // a directory that was moved
		return 0
	}
	return n
}

// compareRuns orders runs by scenario, mutants last and after them the
// control, repeats in order.
func compareRuns(a, b Run) int {
	return cmp.Or(
		cmp.Compare(a.Record.Scenario, b.Record.Scenario),
		compareBool(isMutant(a), isMutant(b)),
		compareBool(a.Record.Control, b.Record.Control),
		compareBool(a.Record.Foreign, b.Record.Foreign),
		cmp.Compare(a.Record.Subject, b.Record.Subject),
		compareBool(a.Record.Verify, b.Record.Verify),
		cmp.Compare(a.Record.Load, b.Record.Load),
		cmp.Compare(a.number(), b.number()),
		cmp.Compare(a.Dir, b.Dir),
	)
}

func isMutant(r Run) bool { return strings.HasPrefix(r.Record.Subject, history.MutantPrefix) }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
