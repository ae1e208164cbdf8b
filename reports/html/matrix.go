package html

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
)

// matrix tells which scenario found which mutant out.
type matrix struct {
	Scenarios []string
	Mutants   []matrixLine
}

type matrixLine struct {
	Mutant string
	Killed int // scenarios that found it out
	Cells  []matrixCell
}

type matrixCell struct {
	Text    string // "" if it did not run
	Title   string
	Link    string
	Class   string
	Control bool // the mutant is the scenario's control
}

// newMatrix is of the runs without the subject's own verify pass, by which a
// mutant may find its own loss and abort, and under the scenario's own load.
func newMatrix(dir string, runs []reports.Run) matrix {
	var m matrix
	cells := map[[2]string][]reports.Run{}
	var mutants []string
	for _, r := range runs {
		mutant, ok := strings.CutPrefix(r.Record.Subject, history.MutantPrefix)
		if !ok || r.Record.Verify || r.Record.Load != "" {
			continue
		}
		id := [2]string{mutant, r.Record.Scenario}
		if !slices.Contains(m.Scenarios, r.Record.Scenario) {
			m.Scenarios = append(m.Scenarios, r.Record.Scenario)
		}
		if !slices.Contains(mutants, mutant) {
			mutants = append(mutants, mutant)
		}
		cells[id] = append(cells[id], r)
	}
	slices.Sort(mutants)
	for _, mutant := range mutants {
		line := matrixLine{Mutant: mutant}
		for _, s := range m.Scenarios {
			c := newCell(dir, cells[[2]string{mutant, s}])
			if c.Class == "cell-good" {
				line.Killed++
			}
			line.Cells = append(line.Cells, c)
		}
		m.Mutants = append(m.Mutants, line)
	}
	return m
}

func newCell(dir string, runs []reports.Run) matrixCell {
	if len(runs) == 0 {
		return matrixCell{}
	}
	killed := 0
	for _, r := range runs {
		if found(r) {
			killed++
		}
	}
	r := runs[0]
	c := matrixCell{Link: link(dir, filepath.Join(r.Dir, RunFile)), Control: r.Record.Control, Title: ending(r)}
	switch killed {
	case len(runs):
		c.Text, c.Class = "found: "+r.Anomaly(), "cell-good"
	case 0:
		c.Text, c.Class = "survived", "cell-bad"
		switch r.Conclusion.Judgement.Verdict {
		case check.Invalid:
			c.Text = "not as it must: " + r.Anomaly()
		case check.Unknown:
			c.Text, c.Class = "unknown", "cell-doubt"
		}
		if !c.Control && c.Class == "cell-bad" { // another scenario is its own
			c.Class = ""
		}
	default:
		c.Text, c.Class = fmt.Sprintf("found in %d of %d", killed, len(runs)), "cell-doubt"
	}
	return c
}

// found reports whether a run found its mutant out. A control must be Invalid
// for its scenario's own anomaly: another one does not show that the scenario
// can see its bug.
func found(r reports.Run) bool {
	return r.Conclusion.Judgement.Verdict == check.Invalid && (r.Conclusion.Expected || !r.Record.Control)
}
