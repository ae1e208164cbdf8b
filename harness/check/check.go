// Package check judges a run: it reads a history.Record and says what is
// wrong with the data.
//
// Read Judge first; each checker is one file and a pure function of the
// record, so a stored run can be judged again. Explain turns an anomaly into
// prose. The package imports nothing of the project but harness/history.
package check

import (
	"fmt"
	"strings"

	"rowproof/harness/history"
)

// Kind names what went wrong.
type Kind string

// The anomalies.
const (
	LostRow           Kind = "lost row"                // a row of the original is not in the final table
	ResurrectedRow    Kind = "resurrected row"         // a row is there that had been deleted, or never was
	DuplicateRow      Kind = "duplicate row"           // a row is there more than once
	StaleRow          Kind = "stale row"               // a row holds an earlier state of itself
	AlteredValue      Kind = "altered value"           // a row holds a value nobody wrote
	MissingTable      Kind = "missing table"           // a client was told that the table does not exist
	TornCutover       Kind = "torn cut-over"           // a write reached the old table after the swap, or a reader saw half of it
	OrphanTable       Kind = "orphan table"            // a table, trigger, lock or session was left behind
	SchemaDifference  Kind = "schema difference"       // the definition is not what the ALTER gives
	ReplicaDifference Kind = "replica difference"      // a replica's table is not the source's
	LostWrite         Kind = "lost acknowledged write" // no order of the acknowledged writes gives the final rows
	RefusedWrite      Kind = "refused write"           // the application could not write what the table takes
	UnexpectedOutcome Kind = "unexpected outcome"      // the migration ended otherwise than the scenario asks for
)

// Verdict is a judgement in one word.
type Verdict string

// The verdicts, best first. Unknown is not a pass: nothing was proved. Nor is
// NotApplicable, which stands for a run that was not made, since the subject
// lacks a step that the scenario's faults need.
const (
	Valid         Verdict = "Valid"
	Unknown       Verdict = "Unknown"
	Invalid       Verdict = "Invalid"
	NotApplicable Verdict = "Not applicable"
)

// Worse returns the worse of two verdicts.
func (v Verdict) Worse(w Verdict) Verdict {
	if v == Invalid || w == Invalid {
		return Invalid
	}
	if v == Unknown || w == Unknown {
		return Unknown
	}
	return Valid
}

// Anomaly is one thing that is wrong.
type Anomaly struct {
	Kind        Kind        `json:"kind"`
	Checker     string      `json:"checker"`       // the checker that found it
	Key         history.Key `json:"key,omitempty"` // the row, if it is one row's
	Text        string      `json:"text"`          // one sentence
	Explanation string      `json:"explanation,omitempty"`
}

// Result is what one checker found.
type Result struct {
	Checker   string    `json:"checker"`
	Verdict   Verdict   `json:"verdict"`
	Anomalies []Anomaly `json:"anomalies,omitempty"`
	Unknown   []string  `json:"unknown,omitempty"` // why it could not tell
}

// Judgement is the verdict on a run and what it rests on.
type Judgement struct {
	Scenario string   `json:"scenario"`
	Subject  string   `json:"subject"`
	Verdict  Verdict  `json:"verdict"`
	Results  []Result `json:"results"` // one per checker, always all of them
}

// Anomalies returns everything found wrong, in the order of the checkers.
func (j Judgement) Anomalies() []Anomaly {
	var all []Anomaly
	for _, r := range j.Results {
		all = append(all, r.Anomalies...)
	}
	return all
}

// Reasons returns why the run, or a part of it, could not be judged.
func (j Judgement) Reasons() []string {
	var all []string
	for _, r := range j.Results {
		all = append(all, r.Unknown...)
	}
	return all
}

// Has reports whether an anomaly of this kind was found.
func (j Judgement) Has(kind Kind) bool {
	for _, r := range j.Results {
		for _, a := range r.Anomalies {
			if a.Kind == kind {
				return true
			}
		}
	}
	return false
}

// Checker is one question asked of every run.
type Checker struct {
	Name  string
	Check func(*history.Record) Result
}

// Checkers returns every checker, those that judge the data first.
func Checkers() []Checker {
	return []Checker{
		{"same as ALTER", SameAsAlter},
		{"acknowledged writes", AcknowledgedWrites},
		{"cut-over whole", CutoverWhole},
		{"table never missing", NeverMissing},
		{"writes taken", WritesTaken},
		{"replica equals source", SameOnReplicas},
		{"nothing left behind", NothingLeft},
		{"outcome as expected", OutcomeExpected},
		{"faults fired", FaultsFired},
		{"observed in full", ObservedInFull},
	}
}

// explained is how many anomalies of one kind and checker get an explanation:
// a reader needs one good story, not two hundred of the same.
const explained = 3

// Judge runs every checker over the record. The worst verdict wins.
func Judge(r *history.Record) Judgement {
	if len(r.Missing) > 0 {
		why := fmt.Sprintf("%s lacks %s", r.Subject, strings.Join(r.Missing, ", "))
		return Judgement{Scenario: r.Scenario, Subject: r.Subject, Verdict: NotApplicable,
			Results: []Result{{Checker: "steps", Verdict: NotApplicable, Unknown: []string{why}}}}
	}
	j := Judgement{Scenario: r.Scenario, Subject: r.Subject, Verdict: Valid}
	for _, c := range Checkers() {
		result := c.Check(r)
		result.Checker = c.Name
		told := map[Kind]int{}
		for i := range result.Anomalies {
			a := &result.Anomalies[i]
			a.Checker = c.Name
			if told[a.Kind]++; told[a.Kind] <= explained {
				a.Explanation = Explain(r, *a)
			}
		}
		j.Results = append(j.Results, result)
		j.Verdict = j.Verdict.Worse(result.Verdict)
	}
	return j
}

// finding builds a Result whose verdict follows from what was found.
func finding(anomalies []Anomaly, unknown []string) Result {
	r := Result{Verdict: Valid, Anomalies: anomalies, Unknown: unknown}
	if len(unknown) > 0 {
		r.Verdict = Unknown
	}
	if len(anomalies) > 0 {
		r.Verdict = Invalid
	}
	return r
}
