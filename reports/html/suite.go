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
	Share  float64 // of the longest run's time, for a bar
	Moving float64 // of that, the part in which the subject ran
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
		most, c := lines[0].Run.Conclusion.Seconds, lines[i].Run.Conclusion
		if most > 0 {
			lines[i].Share = 200 * c.Seconds / most
			lines[i].Moving = min(200*lines[i].Run.Record.Exit.At.Seconds()/most, lines[i].Share)
		}
	}
	return lines
}

// repeated is the repeats of one run.
type repeated struct {
	Scenario, Subject string
	Runs              int
	Ends              []string // "Valid 19", "Invalid, lost row 1"
	Flaky             bool     // they did not all come to the same end
	Class             string
}

func newRepeated(runs []reports.Run) []repeated {
	var all []repeated
	byName := groupBy(runs, func(r reports.Run) string { return r.Record.Scenario + "\n" + r.SubjectName() })
	for _, same := range byName {
		if len(same) < 2 {
			continue
		}
		first := same[0]
		x := repeated{Scenario: first.Record.Scenario, Subject: first.SubjectName(), Runs: len(same), Class: "good"}
		for _, end := range groupBy(same, ending) {
			x.Ends = append(x.Ends, fmt.Sprintf("%s: %d", ending(end[0]), len(end)))
			if c := class(end[0]); c != "good" && x.Class != "bad" {
				x.Class = c
			}
		}
		x.Flaky = len(x.Ends) > 1
		all = append(all, x)
	}
	return all
}

// ending is what a run came to, in a few words.
func ending(r reports.Run) string {
	words := []string{string(r.Conclusion.Judgement.Verdict), r.Anomaly(), r.Record.Exit.Outcome}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// groupBy splits runs by a name, in the order in which the names first come.
func groupBy(runs []reports.Run, name func(reports.Run) string) [][]reports.Run {
	place := map[string]int{}
	var groups [][]reports.Run
	for _, r := range runs {
		n := name(r)
		i, ok := place[n]
		if !ok {
			i = len(groups)
			place[n] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}
