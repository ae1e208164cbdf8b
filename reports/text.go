package reports

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/mattn/go-isatty"
)

// Terminal is where text goes.
type Terminal struct {
	W      io.Writer
	Live   bool // it can redraw lines: progress is updated in place
	Colour bool
}

// NewTerminal returns f as a terminal, or as the plain file that it is.
// NO_COLOR in the environment turns colours off.
func NewTerminal(f *os.File) Terminal {
	live := isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
	return Terminal{W: f, Live: live, Colour: live && os.Getenv("NO_COLOR") == ""}
}

// paint colours s if the terminal wants colours.
func (t Terminal) paint(c text.Color, s string) string {
	if !t.Colour {
		return s
	}
	return c.Sprint(s)
}

// verdict paints s by expectation, since a control is good when it is Invalid.
func (t Terminal) verdict(expected bool, s string) string {
	if expected {
		return t.paint(text.FgGreen, s)
	}
	return t.paint(text.FgRed, s)
}

// WriteText writes the verdict table, the stories of the runs that need one,
// how repeats ended, the slowest scenarios, and a summary.
func WriteText(t Terminal, runs []Run) error {
	groups := groupRuns(runs)
	var b strings.Builder
	writeTable(&b, t, groups)
	for _, g := range slices.Concat(unexpected(groups), told(groups)) {
		b.WriteString("\n")
		writeStory(&b, t, g)
	}
	writeCounts(&b, t, runs)
	writeSlowest(&b, runs)
	b.WriteString("\n")
	for _, scenario := range unproven(runs) {
		fmt.Fprintf(&b, "%s has no control: nothing proves that it can find its bug.\n", scenario)
	}
	fmt.Fprintf(&b, "%s\n", t.verdict(Expected(runs), Summary(runs)))
	if _, err := io.WriteString(t.W, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// unproven returns the scenarios that have no control.
func unproven(runs []Run) []string {
	var found []string
	for _, r := range runs {
		if r.Record.Unproven && !slices.Contains(found, r.Record.Scenario) {
			found = append(found, r.Record.Scenario)
		}
	}
	return found
}

// Summary is one line: "7 runs: 6 as expected, 1 not".
func Summary(runs []Run) string {
	good, bad, without := count(runs)
	noun := "runs"
	if good+bad == 1 {
		noun = "run"
	}
	line := fmt.Sprintf("%d %s: %d as expected, %d not", good+bad, noun, good, bad)
	if without > 0 {
		line += fmt.Sprintf("; %d not applicable", without)
	}
	return line
}

// group is repeats of one run that came to the same end.
type group struct{ runs []Run }

func (g group) first() Run { return g.runs[0] }

// seconds is the median time of the runs.
func (g group) seconds() float64 {
	var all []float64
	for _, r := range g.runs {
		all = append(all, r.Conclusion.Seconds)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func groupRuns(runs []Run) []group {
	type end struct {
		scenario, subject, outcome, verdict, anomaly string
		expected                                     bool
	}
	place := map[end]int{}
	var groups []group
	for _, r := range runs {
		e := end{r.Record.Scenario, r.SubjectName(), r.Record.Exit.Outcome, r.VerdictText(), r.Anomaly(), r.Conclusion.Expected}
		i, ok := place[e]
		if !ok {
			i = len(groups)
			place[e] = i
			groups = append(groups, group{})
		}
		groups[i].runs = append(groups[i].runs, r)
	}
	return groups
}

// unexpected returns the groups that are not as their scenario demands.
func unexpected(groups []group) []group {
	return slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return g.first().Conclusion.Expected })
}

// told returns the groups that are as expected and still have a story: the
// controls.
func told(groups []group) []group {
	return slices.DeleteFunc(slices.Clone(groups), func(g group) bool {
		return !g.first().Conclusion.Expected || g.first().Anomaly() == ""
	})
}

// anomalyText is the anomaly, or why the scenario is not applicable.
func anomalyText(r Run) string {
	if r.notApplicable() {
		return "lacks " + strings.Join(r.Record.Missing, ", ")
	}
	return r.Anomaly()
}

func writeTable(b *strings.Builder, t Terminal, groups []group) {
	repeated := slices.ContainsFunc(groups, func(g group) bool { return len(g.runs) > 1 })
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.Style().Format.Header = text.FormatDefault
	header := table.Row{"scenario", "subject", "migration", "verdict", "anomaly", "seconds"}
	if repeated {
		header = append(header, "runs")
	}
	tw.AppendHeader(header)
	tw.SetColumnConfigs([]table.ColumnConfig{
		{Name: "seconds", Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Name: "runs", Align: text.AlignRight, AlignHeader: text.AlignRight},
	})
	last := ""
	for _, g := range groups {
		r := g.first()
		scenario := r.Record.Scenario
		if scenario == last {
			scenario = ""
		} else if last != "" {
			tw.AppendSeparator()
		}
		last = r.Record.Scenario
		row := table.Row{
			scenario, r.SubjectName(), r.Record.Exit.Outcome, t.verdict(r.Conclusion.Expected, r.VerdictText()),
			anomalyText(r), strconv.FormatFloat(g.seconds(), 'f', 2, 64),
		}
		if repeated {
			row = append(row, len(g.runs))
		}
		tw.AppendRow(row)
	}
	b.WriteString(tw.Render())
	b.WriteString("\n")
}
