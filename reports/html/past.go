package html

import (
	"fmt"
	"path/filepath"
	"slices"

	"rowproof/harness/check"
	"rowproof/reports"
)

// pastTable is how the same runs ended in earlier suites.
type pastTable struct {
	Suites []pastSuite
	Lines  []pastLine
}

type pastSuite struct {
	Name    string
	Link    string
	Summary string
	Class   string
}

type pastLine struct {
	Scenario, Subject string
	Cells             []pastCell
}

type pastCell struct {
	Text  string // "" if it did not run
	Class string
}

// newPast compares suites; with but one there is nothing to compare.
func newPast(dir string, runs []reports.Run, earlier []reports.Stored) pastTable {
	suites := reports.Suites(runs)
	for _, e := range slices.Backward(earlier) {
		if !slices.ContainsFunc(suites, func(s reports.Stored) bool { return s.Dir == e.Dir }) {
			suites = slices.Insert(suites, 0, e)
		}
	}
	var t pastTable
	if len(suites) < 2 {
		return t
	}
	cells := map[[2]string][]pastCell{}
	var order [][2]string
	for i, s := range suites {
		t.Suites = append(t.Suites, pastSuite{
			Name: s.Name, Link: link(dir, filepath.Join(s.Dir, SuiteFile)), Class: suiteClass(s.Results),
			Summary: fmt.Sprintf("%d of %d as expected", s.Results.Expected, s.Results.Runs),
		})
		type sum struct{ runs, good, without int }
		sums := map[[2]string]*sum{}
		for _, r := range s.Results.Results {
			id := [2]string{r.Scenario, r.SubjectName()}
			if cells[id] == nil {
				cells[id] = make([]pastCell, len(suites))
				order = append(order, id)
			}
			if sums[id] == nil {
				sums[id] = &sum{}
			}
			switch {
			case r.Verdict == string(check.NotApplicable):
				sums[id].without++
				continue
			case r.Expected:
				sums[id].good++
			}
			sums[id].runs++
		}
		for id, n := range sums {
			c := pastCell{Text: "✓", Class: "cell-good"}
			switch {
			case n.runs == 0:
				c = pastCell{Text: "not applicable", Class: "soft"}
			case n.good < n.runs:
				c = pastCell{Text: "✗", Class: "cell-bad"}
			}
			if n.runs > 1 {
				c.Text += fmt.Sprintf(" %d/%d", n.good, n.runs)
			}
			cells[id][i] = c
		}
	}
	slices.SortStableFunc(order, func(a, b [2]string) int { return slices.Compare(a[:1], b[:1]) })
	for _, id := range order {
		t.Lines = append(t.Lines, pastLine{Scenario: id[0], Subject: id[1], Cells: cells[id]})
	}
	return t
}

func suiteClass(r reports.Results) string {
	if r.Expected < r.Runs {
		return "bad"
	}
	return "good"
}
