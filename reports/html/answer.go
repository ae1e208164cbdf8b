package html

import (
	"fmt"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/rows"
)

// answer is what a reader wants to know first.
type answer struct {
	Class   string // valid, invalid, unknown: its colour
	Verdict string
	Line    string   // one sentence
	Facts   []string // what that rests on
	Key     history.Key
	Row     *rows.Table // the row before and after; nil if it is not one row's
}

func newAnswer(r reports.Run, record *history.Record, anomalies []check.Anomaly) answer {
	verdict := r.Conclusion.Judgement.Verdict
	a := answer{Verdict: r.VerdictText(), Class: map[check.Verdict]string{
		check.Valid: "valid", check.Invalid: "invalid", check.Unknown: "unknown", check.NotApplicable: "unknown",
	}[verdict]}
	switch {
	case verdict == check.NotApplicable:
		a.Line = "The scenario was not run: the subject lacks " + strings.Join(record.Missing, ", ") + "."
		return a
	case len(anomalies) > 0:
		a.Line = anomalies[0].Text
	case verdict == check.Unknown:
		a.Line = "Nothing was proved: what happened could not be told in full."
	case record.Exit.Outcome != "completed":
		a.Line = "No data was lost: the original table holds every acknowledged write."
	default:
		a.Line = "No row was lost, changed or brought back."
	}
	a.Facts = facts(r, record)
	for _, x := range anomalies {
		if x.Key != "" {
			a.Key = x.Key
			if table := rows.New(record, a.Key); len(table.Columns) > 0 {
				a.Row = &table
			}
			break
		}
	}
	return a
}

// facts tells what the verdict rests on.
func facts(r reports.Run, record *history.Record) []string {
	var all []string
	if r.Record.Control {
		all = append(all, "The subject is this scenario's control: the engine with the bug put back. It must be found out, or the scenario would prove nothing.")
	}
	if known := r.Conclusion.Known; known != nil {
		all = append(all, "The tool is known to do this. Public report: "+known.Report+".")
	}
	if record.Unproven {
		all = append(all, "The scenario has no control: nothing shows that it can find its bug.")
	}
	if reason := r.Conclusion.Reason; reason != "" {
		all = append(all, "Not as expected: "+reason+".")
	}
	if record.Exit.Outcome != "" {
		all = append(all, reports.Outcome(r))
	}
	if c := record.Observed.Comparison; c.Done {
		all = append(all, fmt.Sprintf("The final table has %d rows. It was compared, byte by byte, with %s, which has %d.", c.FinalRows, c.Against, c.Rows))
	}
	writes := 0
	for _, op := range record.Ops {
		if op.Outcome == history.OK && len(op.Changes) > 0 {
			writes++
		}
	}
	if writes > 0 {
		all = append(all, fmt.Sprintf("%s %s looked for in the final rows.", count(writes, "acknowledged write"), was(writes)))
	}
	if n := len(record.Planned); n > 0 {
		all = append(all, fmt.Sprintf("%d of %s fired.", fired(record), count(n, "planned fault")))
	}
	return all
}

func fired(r *history.Record) int {
	seen := map[string]bool{}
	for _, m := range r.Marks {
		if m.Name == history.MarkFaultFired {
			seen[m.Data["fault"]] = true
		}
	}
	n := 0
	for _, name := range r.Planned {
		if seen[name] {
			n++
		}
	}
	return n
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
