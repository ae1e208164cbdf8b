package check

import (
	"fmt"
	"path/filepath"

	"rowproof/harness/history"
)

// Conclusion is what a run came to: the judgement, and whether the scenario
// wanted it. It is the run directory's history.VerdictFile.
type Conclusion struct {
	Judgement Judgement `json:"judgement"`
	Control   bool      `json:"control"`          // the subject is the scenario's control
	Known     *Finding  `json:"known,omitempty"`  // what the tool is known to do, and did
	Expected  bool      `json:"expected"`         // the run ended as the scenario demands
	Reason    string    `json:"reason,omitempty"` // why it is not as expected
	Seconds   float64   `json:"seconds"`          // how long the whole run took
}

// Conclude tells whether a judgement is what the scenario demands. A control
// must be Invalid for the anomaly that the scenario guards against, with
// nothing left in doubt: any other failure does not show that the scenario can
// see its bug. Every other subject must be Valid, or do exactly what it is
// known to do if it is not ours. Where a scenario is not applicable, nothing
// is demanded.
func Conclude(r *history.Record, j Judgement, known Findings, seconds float64) Conclusion {
	c := Conclusion{Judgement: j, Control: r.Control, Seconds: seconds}
	switch {
	case j.Verdict == NotApplicable:
	case r.Control:
		c.Reason = controlReason(j, Kind(r.Guards))
	case r.Foreign && j.Verdict == Invalid:
		c.Known, c.Reason = foreignReason(r, j, known)
	default:
		c.Reason = subjectReason(j)
	}
	c.Expected = c.Reason == ""
	return c
}

// foreignReason looks a verdict up among what is known of the tool.
func foreignReason(r *history.Record, j Judgement, known Findings) (*Finding, string) {
	found := NewFinding(r, j)
	k, ok := known.about(found.Scenario, found.Subject)
	switch {
	case !ok:
		return nil, fmt.Sprintf("the tool is %s, which %s does not know of it", describe(j), KnownDir)
	case len(j.Reasons()) > 0:
		return nil, "the run is in doubt: " + j.Reasons()[0]
	case !k.same(found):
		return nil, fmt.Sprintf("the tool is known to be: %s; and was: %s", k.text(), found.text())
	}
	return &k, ""
}

func controlReason(j Judgement, guards Kind) string {
	switch doubts := j.Reasons(); {
	case !j.Has(guards):
		return fmt.Sprintf("the control must show %q and was %s", guards, describe(j))
	case len(doubts) > 0:
		return "the control's run is in doubt: " + doubts[0]
	}
	return ""
}

func subjectReason(j Judgement) string {
	if j.Verdict == Valid {
		return ""
	}
	return fmt.Sprintf("the subject must be %s and was %s", Valid, describe(j))
}

func describe(j Judgement) string {
	if anomalies := j.Anomalies(); len(anomalies) > 0 {
		return fmt.Sprintf("%s for %q", j.Verdict, anomalies[0].Kind)
	}
	if doubts := j.Reasons(); len(doubts) > 0 {
		return fmt.Sprintf("%s: %s", j.Verdict, doubts[0])
	}
	return string(j.Verdict)
}

// Headline returns the anomaly that a table shows for the run: the guarded
// one if it was found, or else the first; "" if there is none.
func (j Judgement) Headline(guards Kind) Kind {
	if j.Has(guards) {
		return guards
	}
	if anomalies := j.Anomalies(); len(anomalies) > 0 {
		return anomalies[0].Kind
	}
	return ""
}

// SaveConclusion writes the verdict file of a run directory.
func SaveConclusion(dir string, c Conclusion) error {
	return history.WriteJSON(filepath.Join(dir, history.VerdictFile), c)
}

// LoadConclusion reads the verdict file of a run directory. The error wraps
// fs.ErrNotExist if the run ended before it was judged.
func LoadConclusion(dir string) (Conclusion, error) {
	var c Conclusion
	err := history.ReadJSON(filepath.Join(dir, history.VerdictFile), &c)
	return c, err
}
