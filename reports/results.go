package reports

import (
	"path/filepath"

	"rowproof/harness/history"
)

// ResultsFile is the suite's results as JSON, in the suite's directory.
const ResultsFile = "results.json"

// ResultsVersion is the version of the layout of ResultsFile.
const ResultsVersion = 1

// Results is what a suite came to.
type Results struct {
	Format   int         `json:"format"`         // ResultsVersion
	Runs     int         `json:"runs"`           // made
	Expected int         `json:"expected"`       // runs that ended as their scenario demands
	Without  int         `json:"not_applicable"` // not made, since the subject lacks a step
	Counts   []Count     `json:"counts"`         // by scenario and subject
	Results  []ResultRow `json:"results"`
}

// ResultRow is one run, in short; all of it is in Dir.
type ResultRow struct {
	Scenario string   `json:"scenario"`
	Subject  string   `json:"subject"`
	Verify   bool     `json:"verify"`
	Control  bool     `json:"control"`
	Load     string   `json:"load,omitempty"`    // random, or the scenario's own
	Number   int      `json:"number"`            // which of the repeats
	Version  string   `json:"version,omitempty"` // of a tool that is not ours
	Flags    []string `json:"flags,omitempty"`   // that it was given
	Verdict  string   `json:"verdict"`           // Valid, Invalid, Unknown, Not applicable
	Anomaly  string   `json:"anomaly,omitempty"`
	Outcome  string   `json:"outcome,omitempty"` // of the migration
	Expected bool     `json:"expected"`
	Reason   string   `json:"reason,omitempty"`  // why it is not as expected
	Known    string   `json:"known,omitempty"`   // the public report of what the tool is known to do, and did
	Missing  []string `json:"missing,omitempty"` // what the subject lacks
	Seconds  float64  `json:"seconds"`
	// Phases is what Seconds was spent on.
	Phases []history.Phase `json:"phases,omitempty"`
	Seed   uint64          `json:"seed"`
	Repeat string          `json:"repeat,omitempty"`
	Dir    string          `json:"dir"` // the run directory, from that of the results if it is below
}

// SubjectName names the subject without its version: where suites are compared,
// the point is to see what a new one changed.
func (r ResultRow) SubjectName() string { return subjectName(r.Subject, "", r.Flags, r.Verify, r.Load) }

// NewResults returns the results of runs, with paths relative to dir.
func NewResults(dir string, runs []Run) Results {
	good, bad, without := count(runs)
	res := Results{Format: ResultsVersion, Runs: good + bad, Expected: good, Without: without, Counts: CountRuns(runs), Results: []ResultRow{}}
	for _, r := range runs {
		row := ResultRow{
			Scenario: r.Record.Scenario,
			Subject:  r.Record.Subject,
			Verify:   r.Record.Verify,
			Control:  r.Record.Control,
			Load:     r.Record.Load,
			Number:   r.number(),
			Version:  r.Record.Version,
			Flags:    r.Record.Flags,
			Missing:  r.Record.Missing,
			Verdict:  string(r.Conclusion.Judgement.Verdict),
			Anomaly:  r.Anomaly(),
			Outcome:  r.Record.Exit.Outcome,
			Expected: r.Conclusion.Expected,
			Reason:   r.Conclusion.Reason,
			Seconds:  r.Conclusion.Seconds,
			Phases:   r.Record.Phases,
			Seed:     r.Record.Seed,
			Repeat:   r.Record.Repeat,
			Dir:      below(dir, r.Dir),
		}
		if k := r.Conclusion.Known; k != nil {
			row.Known = k.Report
		}
		res.Results = append(res.Results, row)
	}
	return res
}

// WriteFiles writes the results of runs to dir, as JSON and as JUnit XML.
func WriteFiles(dir string, runs []Run) error {
	if err := history.WriteJSON(filepath.Join(dir, ResultsFile), NewResults(dir, runs)); err != nil {
		return err
	}
	return writeJUnitFile(filepath.Join(dir, JUnitFile), runs)
}

// below is path as seen from dir, or path itself if it lies elsewhere.
func below(dir, path string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
