package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"rowproof/harness/history"
)

const (
	storyWidth   = 88 // columns of prose
	storyDetails = 3  // explanations per run; the rest is in the verdict file
)

// PageFile is the page of a run, in its directory. Package html makes it.
const PageFile = "run.html"

// writeStory tells one run, and that there are more like it: the answer, why,
// how to repeat it, where it is.
func writeStory(b *strings.Builder, t Terminal, g group) {
	r := g.first()
	c := r.Conclusion
	fmt.Fprintf(b, "%s on %s: %s\n", t.paint(text.Bold, r.Record.Scenario), r.SubjectName(),
		t.verdict(c.Expected, r.VerdictText()))
	if bug := BugLine(r.Record.Bug); bug != "" {
		writeProse(b, "Bug: "+bug)
	}
	if c.Reason != "" {
		writeProse(b, "Not as expected: "+c.Reason+".")
	}
	if k := c.Known; k != nil {
		writeProse(b, "Known of it since "+k.Date+". Report: "+k.Report+".")
	}
	if r.Record.Exit.Outcome != "" {
		writeProse(b, Outcome(r))
	}
	anomalies := r.Anomalies()
	told := map[string]bool{} // explanations; two checkers may find one loss
	for i, a := range anomalies {
		if i == storyDetails {
			writeProse(b, fmt.Sprintf("\n… and %d more, in %s", len(anomalies)-i, history.VerdictFile))
			break
		}
		b.WriteString("\n")
		writeProse(b, string(a.Kind)+": "+a.Text)
		if a.Explanation != "" && !told[a.Explanation] {
			told[a.Explanation] = true
			b.WriteString("\n")
			writeProse(b, a.Explanation)
		}
	}
	for _, reason := range c.Judgement.Reasons() {
		if !strings.Contains(c.Reason, reason) { // said above
			writeProse(b, "unknown: "+reason)
		}
	}
	b.WriteString("\n")
	if r.Record.Repeat != "" {
		fmt.Fprintf(b, "  Repeat:  %s\n", Printable(r.Record.Repeat))
	}
	fmt.Fprintf(b, "  Run:     %s\n", nearPath(r.Dir))
	if _, err := os.Stat(filepath.Join(r.Dir, PageFile)); err == nil {
		fmt.Fprintf(b, "  Look:    %s\n", nearPath(filepath.Join(r.Dir, PageFile)))
	}
	if more := len(g.runs) - 1; more > 0 {
		fmt.Fprintf(b, "           and %d more like it\n", more)
	}
}

// Outcome tells how the migration ended.
func Outcome(r Run) string {
	exit := r.Record.Exit
	s := fmt.Sprintf("The migration ended: %s, exit status %d", exit.Outcome, exit.Code)
	if exit.Signal != "" {
		s = fmt.Sprintf("The migration ended: %s by %s", exit.Outcome, exit.Signal)
	}
	if exit.Code != 0 && exit.Message != "" {
		return s + ": " + exit.Message
	}
	return s + "."
}

// BugLine is a scenario's bug as one line.
func BugLine(bug string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(bug), "Bug:")), " ")
}

// writeProse writes s indented and wrapped, line by line.
func writeProse(b *strings.Builder, s string) {
	for line := range strings.Lines(Printable(s)) {
		wrapped := text.WrapSoft(strings.TrimRight(line, "\n"), storyWidth)
		for part := range strings.Lines(wrapped) {
			if part = strings.TrimRight(part, " \n"); part != "" {
				b.WriteString("  " + part)
			}
			b.WriteString("\n")
		}
		if wrapped == "" {
			b.WriteString("\n")
		}
	}
}

// Printable shows what a terminal would act upon instead of printing it:
// values come from tables and may hold anything.
func Printable(s string) string {
	if !strings.ContainsFunc(s, suspect) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], string(unicode.ReplacementChar)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !unicode.IsPrint(r):
			q := fmt.Sprintf("%+q", r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// suspect reports a character that may not be shown as it is.
func suspect(r rune) bool {
	return r != '\n' && r != '\t' && (r == unicode.ReplacementChar || !unicode.IsPrint(r))
}

// nearPath is path from the working directory, if it lies below that.
func nearPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}
