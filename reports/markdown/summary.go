package markdown

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"rowproof/reports"
)

// mostStories is how many runs a job's summary tells of. GitHub takes a
// megabyte of it.
const mostStories = 10

// AppendSummary appends the summary of a CI job to a file.
func AppendSummary(path string, runs []reports.Run) (err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write job summary: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(Summary(runs)); err != nil {
		return fmt.Errorf("write job summary: %w", err)
	}
	return nil
}

// Summary is a suite in short: the answer, the stories of the runs that are
// not as expected, and all runs.
func Summary(runs []reports.Run) string {
	var b strings.Builder
	mark := "✅"
	if !reports.Expected(runs) {
		mark = "❌"
	}
	fmt.Fprintf(&b, "## %s rowproof: %s\n\n", mark, reports.Summary(runs))
	told := 0
	for _, r := range runs {
		if r.Conclusion.Expected {
			continue
		}
		if told++; told > mostStories {
			continue
		}
		fmt.Fprintf(&b, "### %s on %s: %s\n\n", prose(r.Record.Scenario), prose(r.SubjectName()), prose(r.VerdictText()))
		fmt.Fprintf(&b, "%s\n\n", prose(r.Conclusion.Reason))
		if anomalies := r.Anomalies(); len(anomalies) > 0 {
			fmt.Fprintf(&b, "%s\n\n%s\n\n", prose(anomalies[0].Text), prose(anomalies[0].Explanation))
		}
		if r.Record.Repeat != "" {
			b.WriteString(block("sh", r.Record.Repeat) + "\n")
		}
	}
	if told > mostStories {
		fmt.Fprintf(&b, "… and %d more runs that are not as expected.\n\n", told-mostStories)
	}
	b.WriteString("<details><summary>all runs</summary>\n\n| | scenario | subject | migration | verdict | anomaly | seconds |\n| --- | --- | --- | --- | --- | --- | ---: |\n")
	for _, r := range runs {
		mark := "✅"
		if !r.Conclusion.Expected {
			mark = "❌"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.2f |\n", mark, cell(r.Record.Scenario), cell(r.SubjectName()), cell(r.Record.Exit.Outcome),
			cell(r.VerdictText()), cell(r.Anomaly()), r.Conclusion.Seconds)
	}
	b.WriteString("\n</details>\n")
	return b.String()
}
