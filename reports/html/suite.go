package html

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rowproof/harness/check"
	"rowproof/reports"
)

// suitePage is all that the page of a suite shows.
type suitePage struct {
	frame
	Class    string
	Summary  string
	Runs     []runLine
	Matrix   matrix
	Slowest  []runLine
	Repeated []repeated
	History  pastTable
}

// runLine is a run in a table.
type runLine struct {
	Run    reports.Run
	Number int // which of the repeats; 0 if there is but one
	Link   string
	Class  string
	Parts  []runPart // what it spent its time on
}

// runPart is a part of a run's time, with its place in a bar.
type runPart struct {
	Name     string
	Seconds  float64
	X, Width float64
	Class    string
}

const mostSlow = 10

// WriteSuite writes the page of a suite into dir. earlier are the suites
// before it, as far as they are known; runs may be of several suites too.
func (p Pages) WriteSuite(dir string, runs []reports.Run, earlier []reports.Stored) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	f, err := newFrame("rowproof: "+filepath.Base(real), "suite.js")
	if err != nil {
		return err
	}
	page := suitePage{frame: f, Class: "valid", Summary: reports.Summary(runs)}
	switch {
	case len(runs) == 0:
		page.Class = "unknown"
	case !reports.Expected(runs):
		page.Class = "invalid"
	}
	page.Runs = runLines(dir, runs)
	page.Matrix = newMatrix(dir, runs)
	page.Slowest = slowest(page.Runs)
	page.Repeated = newRepeated(runs)
	page.History = newPast(dir, runs, earlier)
	return p.write(filepath.Join(dir, SuiteFile), "suite.tmpl", page)
}

func runLines(dir string, runs []reports.Run) []runLine {
	times := map[string]int{}
	for _, r := range runs {
		times[r.Record.Scenario+"\n"+r.SubjectName()]++
	}
	seen := map[string]int{}
	var lines []runLine
	for _, r := range runs {
		l := runLine{Run: r, Link: link(dir, filepath.Join(r.Dir, RunFile)), Class: class(r)}
		id := r.Record.Scenario + "\n" + r.SubjectName()
		if seen[id]++; times[id] > 1 {
			l.Number = seen[id]
		}
		lines = append(lines, l)
	}
	return lines
}

// class is the colour of a run: good if it ended as its scenario demands.
func class(r reports.Run) string {
	switch {
	case r.Conclusion.Judgement.Verdict == check.NotApplicable:
		return "soft"
	case r.Conclusion.Expected:
		return "good"
	case r.Conclusion.Judgement.Verdict == check.Unknown:
		return "doubt"
	}
	return "bad"
}

// slowest returns the longest runs, with what part of the longest they took.
func slowest(lines []runLine) []runLine {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b runLine) int {
		return cmp.Compare(b.Run.Conclusion.Seconds, a.Run.Conclusion.Seconds)
	})
	lines = lines[:min(len(lines), mostSlow)]
	for i := range lines {
		if most := lines[0].Run.Conclusion.Seconds; most > 0 {
			lines[i].Parts = parts(lines[i].Run, barWidth/most)
		}
	}
	return lines
}

// barWidth is the width of the longest bar.
const barWidth = 300

// partClasses are the colours of the parts of a bar, in turn.
var partClasses = []string{"k-statement", "k-read", "k-step", "k-binlogged", "k-server", "k-process"}

// shownSeconds is the shortest time that a bar has a part for.
const shownSeconds = 0.01

// parts divides a run's time as it was recorded; the rest comes last.
func parts(r reports.Run, scale float64) []runPart {
	var all []runPart
	at := 0.0
	add := func(name string, seconds float64) {
		all = append(all, runPart{Name: name, Seconds: seconds, X: at * scale, Width: seconds * scale, Class: partClasses[len(all)%len(partClasses)]})
		at += seconds
	}
	for _, p := range r.Record.Phases {
		if p.Seconds >= shownSeconds {
			add(p.Name, p.Seconds)
		}
	}
	if rest := r.Conclusion.Seconds - at; rest >= shownSeconds {
		add("the rest", rest)
	}
	return all
}

// repeated is the repeats of one run.
type repeated struct {
	reports.Count
	Flaky bool // they did not all come to the same end
	Class string
}

func newRepeated(runs []reports.Run) []repeated {
	var all []repeated
	for _, c := range reports.CountRuns(runs) {
		if c.Runs < 2 {
			continue
		}
		x := repeated{Count: c, Flaky: len(c.Verdicts) > 1 || len(c.Anomalies) > 1, Class: "good"}
		if c.Expected < c.Runs {
			x.Class = "bad"
		}
		all = append(all, x)
	}
	return all
}

// ending is what a run came to, in a few words.
func ending(r reports.Run) string {
	words := []string{string(r.Conclusion.Judgement.Verdict), r.Anomaly(), r.Record.Exit.Outcome}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
