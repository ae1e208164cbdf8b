package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// KnownDir holds what tools that are not ours are known to do, below the
// module's root: a file TOOL.json for each, a list of findings.
const KnownDir = "reports/verdicts"

// NoReport stands for the report of a finding that nobody has reported yet.
const NoReport = "none found"

// Finding is what a tool that is not ours is known to do in one scenario.
type Finding struct {
	Scenario string  `json:"scenario"`
	Subject  string  `json:"subject"` // with its flags, as SubjectName gives it
	Version  string  `json:"version"` // of the tool, when it was seen
	Outcome  string  `json:"outcome,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Anomaly  Kind    `json:"anomaly,omitempty"`
	Date     string  `json:"date"`             // of the run
	Report   string  `json:"report,omitempty"` // a link to a public report, or NoReport; "" if nothing is wrong
}

// SubjectName returns the name of a run's subject with the flags that it was
// given, and the load it was under if that is not the scenario's own: what is
// known without it says nothing of it.
func SubjectName(r *history.Record) string {
	words := append([]string{r.Subject}, r.Flags...)
	if r.Load != "" {
		words = append(words, "+"+r.Load)
	}
	return strings.Join(words, " ")
}

// NewFinding returns what a run of a foreign tool found.
func NewFinding(r *history.Record, j Judgement) Finding {
	f := Finding{
		Scenario: r.Scenario, Subject: SubjectName(r), Version: r.Version, Outcome: r.Exit.Outcome,
		Verdict: j.Verdict, Anomaly: j.Headline(Kind(r.Guards)), Date: r.Started.UTC().Format("2006-01-02"),
	}
	if f.Verdict == Invalid {
		f.Report = NoReport
	}
	return f
}

// Findings are known findings of any tools.
type Findings []Finding

// LoadFindings reads all files of the module at root; there may be none.
func LoadFindings(root string) (Findings, error) {
	paths, err := filepath.Glob(filepath.Join(root, KnownDir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("load known findings: %w", err)
	}
	var all Findings
	for _, path := range paths {
		var of Findings
		if err := history.ReadJSON(path, &of); err != nil {
			return nil, fmt.Errorf("load known findings: %w", err)
		}
		all = append(all, of...)
	}
	return all, nil
}

// Has reports whether there is a finding on the scenario and subject.
func (f Findings) Has(scenario, subject string) bool {
	_, ok := f.about(scenario, subject)
	return ok
}

// about returns what is known of a scenario and a subject.
func (f Findings) about(scenario, subject string) (Finding, bool) {
	at := slices.IndexFunc(f, func(k Finding) bool { return k.Scenario == scenario && k.Subject == subject })
	if at < 0 {
		return Finding{}, false
	}
	return f[at], true
}

// same reports whether two findings say the same, whenever and of whichever
// version it was seen.
func (k Finding) same(l Finding) bool {
	return k.Outcome == l.Outcome && k.Verdict == l.Verdict && k.Anomaly == l.Anomaly
}

// StoreFindings writes findings into the files of the module at root. Each
// takes the place of an older one of its scenario and subject, whose report
// it keeps if it says the same.
func StoreFindings(root string, byTool map[string]Findings) error {
	for tool, found := range byTool {
		path := filepath.Join(root, KnownDir, tool+".json")
		var stored Findings
		if err := history.ReadJSON(path, &stored); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store findings: %w", err)
		}
		for _, f := range found {
			if old, ok := stored.about(f.Scenario, f.Subject); ok && old.same(f) {
				f.Report = old.Report
			}
			stored = slices.DeleteFunc(stored, func(k Finding) bool { return k.Scenario == f.Scenario && k.Subject == f.Subject })
			stored = append(stored, f)
		}
		slices.SortFunc(stored, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Subject, b.Subject))
		})
		if err := history.WriteJSON(path, stored); err != nil {
			return fmt.Errorf("store findings: %w", err)
		}
	}
	return nil
}

// Agree returns the one finding that repeats of a run make. Runs that say
// different things, or that nothing could be told of, make none.
func Agree(repeats []Finding) (Finding, error) {
	first := repeats[0]
	for _, f := range repeats {
		switch {
		case f.Verdict == Unknown:
			return first, fmt.Errorf("%s on %s: a run is %s", f.Scenario, f.Subject, Unknown)
		case !f.same(first):
			return first, fmt.Errorf("%s on %s: one run is %s, another is %s", f.Scenario, f.Subject, first.text(), f.text())
		}
	}
	return first, nil
}

func (k Finding) text() string {
	words := []string{k.Outcome, string(k.Verdict), string(k.Anomaly)}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
