package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// KnownDir holds what subjects are known to do, below the module's root: a
// file for each tool, a list of findings. It has two more, of our engine and
// of its mutants, which hold nothing that a run is compared with.
const KnownDir = "reports/verdicts"

// The names of the files of our engine and its mutants.
const (
	KnownOsc     = "osc"
	KnownMutants = "mutants"
)

// NoReport stands for the report of a finding that nobody has reported yet.
const NoReport = "none found"

// Finding is what a subject is known to do in one scenario.
type Finding struct {
	Scenario string  `json:"scenario"`
	Subject  string  `json:"subject"`          // with its flags, as SubjectName gives it
	Verify   bool    `json:"verify,omitempty"` // with the verify pass of our engine
	Version  string  `json:"version"`          // of the tool, when it was seen
	Server   string  `json:"server,omitempty"` // the server's version
	Outcome  string  `json:"outcome,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Anomaly  Kind    `json:"anomaly,omitempty"`
	Date     string  `json:"date"` // of the run

	// Report is a link to a public report of what a tool that is not ours
	// does wrong, or NoReport.
	Report string `json:"report,omitempty"`
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

// NewFinding returns what a run found. Other tools have no verify pass that
// could be on or off.
func NewFinding(r *history.Record, j Judgement) Finding {
	f := Finding{
		Scenario: r.Scenario, Subject: SubjectName(r), Verify: r.Verify && !r.Foreign, Version: r.Version, Outcome: r.Exit.Outcome,
		Verdict: j.Verdict, Anomaly: j.Headline(Kind(r.Guards)), Date: r.Started.UTC().Format("2006-01-02"),
	}
	if len(r.Servers) > 0 {
		f.Server = r.Servers[0].Version
	}
	if r.Foreign && f.Verdict == Invalid {
		f.Report = NoReport
	}
	return f
}

// File is the name of the file in KnownDir that a run's finding belongs to.
func File(r *history.Record) string {
	if strings.HasPrefix(r.Subject, history.MutantPrefix) {
		return KnownMutants
	}
	return r.Subject
}

// RunReport is where the report on the run of a finding is kept, below
// KnownDir.
func (k Finding) RunReport() string {
	return path.Join("runs", strings.NewReplacer(" ", "", "/", "-").Replace(k.Subject), k.Scenario+".md")
}

// Findings are known findings of any tools.
type Findings []Finding

// LoadFindings reads all files of the module at root; there may be none.
func LoadFindings(root string) (Findings, error) {
	files, err := filepath.Glob(filepath.Join(root, KnownDir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("load known findings: %w", err)
	}
	var all Findings
	for _, file := range files {
		var of Findings
		if err := history.ReadJSON(file, &of); err != nil {
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
		file := filepath.Join(root, KnownDir, tool+".json")
		var stored Findings
		if err := history.ReadJSON(file, &stored); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store findings: %w", err)
		}
		for _, f := range found {
			if old, ok := stored.about(f.Scenario, f.Subject); ok && old.same(f) {
				f.Report = old.Report
			}
			stored = slices.DeleteFunc(stored, func(k Finding) bool { return compareFindings(k, f) == 0 })
			stored = append(stored, f)
		}
		slices.SortFunc(stored, compareFindings)
		if err := history.WriteJSON(file, stored); err != nil {
			return fmt.Errorf("store findings: %w", err)
		}
	}
	return nil
}

// compareFindings orders findings by scenario and subject, that with the
// verify pass last. Those of the same run are equal.
func compareFindings(a, b Finding) int {
	verify := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Subject, b.Subject), verify[a.Verify]-verify[b.Verify])
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
