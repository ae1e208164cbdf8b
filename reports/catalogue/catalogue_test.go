package catalogue_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/reports/catalogue"
)

var update = flag.Bool("update", false, "write the golden files anew")

// made is a catalogue in which nothing is missing: two scenarios share a
// mutant, which one of a third family finds too.
func made() catalogue.Catalogue {
	at := func(scenario, subject string, f check.Finding) check.Finding {
		f.Scenario, f.Subject, f.Server, f.Date = scenario, subject, "9.7.4", "2026-03-01"
		return f
	}
	valid := check.Finding{Version: "1", Outcome: "completed", Verdict: check.Valid}
	lost := check.Finding{Version: "1", Outcome: "completed", Verdict: check.Invalid, Anomaly: check.LostRow}
	aborted := check.Finding{Version: "1", Outcome: "aborted", Verdict: check.Valid, Verify: true}
	return catalogue.Catalogue{
		Scenarios: []catalogue.Scenario{
			{ID: "copy-end", Bug: "Rows are gone | all of them.", Guards: check.LostRow, Control: "careless",
				Reports: []string{"gh-ost 437", "PT-94", "Launchpad 1613915", "somebody's list"}},
			{ID: "copy-end-reply", Bug: "The same.", Guards: check.LostRow, Control: "careless", Reports: []string{"spirit 5"}},
			{ID: "key-bit", Bug: "A bit is lost.", Guards: check.StaleRow, Control: "bits"},
		},
		Known: check.Findings{
			at("copy-end", "osc", valid),
			at("copy-end", "osc", aborted),
			at("copy-end-reply", "osc", valid),
			at("key-bit", "osc", valid),
			at("copy-end", "mutant:careless", lost),
			at("copy-end", "mutant:careless", aborted),
			at("copy-end-reply", "mutant:careless", lost),
			at("key-bit", "mutant:careless", lost),
			at("copy-end", "mutant:bits", valid),
			at("key-bit", "mutant:bits", check.Finding{Version: "1", Verify: true, Verdict: check.Invalid, Anomaly: check.StaleRow}),
			at("copy-end", "gh-ost", check.Finding{Version: "1.1.7", Outcome: "completed", Verdict: check.Invalid, Anomaly: check.LostRow, Report: check.NoReport}),
			at("copy-end-reply", "gh-ost", check.Finding{Version: "1.1.7", Outcome: "refused", Verdict: check.Valid}),
			at("key-bit", "gh-ost", check.Finding{Version: "1.1.8", Outcome: "completed", Verdict: check.Valid}),
			at("key-bit", "gh-ost --cut-over=two-step", check.Finding{Version: "1.1.7", Outcome: "completed", Verdict: check.Invalid,
				Anomaly: check.MissingTable, Report: "https://example.com/7"}),
			at("copy-end", "pt-osc", check.Finding{Version: "3.7.1", Outcome: "completed", Verdict: check.Invalid, Anomaly: check.StaleRow, Report: check.NoReport}),
			at("copy-end-reply", "pt-osc", check.Finding{Verdict: check.NotApplicable}),
		},
	}
}

func TestFiles(t *testing.T) {
	files, err := made().Files()
	if err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{catalogue.PageFile: "page.golden", catalogue.PictureFile: "kills.golden"} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, files[file], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(files[file])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for dec := xml.NewDecoder(strings.NewReader(string(files[catalogue.PictureFile]))); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

func TestGaps(t *testing.T) {
	mutants := []string{"bits", "careless"}
	last := func(c *catalogue.Catalogue, subject string) *check.Finding {
		for i := range c.Known {
			if f := &c.Known[len(c.Known)-1-i]; f.Subject == subject {
				return f
			}
		}
		t.Fatalf("no finding on %s", subject)
		return nil
	}
	remove := func(c *catalogue.Catalogue, subject string) {
		*last(c, subject) = check.Finding{Scenario: "key-bit", Subject: "spirit"}
	}
	tests := map[string]struct {
		change func(*catalogue.Catalogue)
		want   string // "": nothing is missing
	}{
		"OK":                   {func(*catalogue.Catalogue) {}, ""},
		"ErrUnusedMutant":      {func(c *catalogue.Catalogue) { c.Scenarios = c.Scenarios[:2]; c.Known = c.Known[:3] }, "mutant bits: no scenario"},
		"ErrNoSuchMutant":      {func(c *catalogue.Catalogue) { c.Scenarios[1].Control = "bytes" }, "scenario copy-end-reply: there is no mutant bytes"},
		"ErrNoControl":         {func(c *catalogue.Catalogue) { c.Scenarios[1].Control = "" }, "scenario copy-end-reply: it has no control"},
		"ErrControlNotRun":     {func(c *catalogue.Catalogue) { remove(c, "mutant:bits") }, "scenario key-bit: no run of its control"},
		"ErrControlSurvives":   {func(c *catalogue.Catalogue) { last(c, "mutant:bits").Verdict = check.Valid }, `not found Invalid for "stale row"`},
		"ErrOtherAnomaly":      {func(c *catalogue.Catalogue) { last(c, "mutant:bits").Anomaly = check.LostRow }, `not found Invalid for "stale row"`},
		"ErrOscNotRun":         {func(c *catalogue.Catalogue) { remove(c, "osc") }, "scenario key-bit: no run of osc"},
		"ErrOscInvalid":        {func(c *catalogue.Catalogue) { last(c, "osc").Verdict = check.Invalid }, "scenario key-bit: osc is Invalid"},
		"ErrNoSuchScenario":    {func(c *catalogue.Catalogue) { last(c, "pt-osc").Scenario = "gone" }, "finding on pt-osc in gone: there is no such scenario"},
		"ErrNoVersion":         {func(c *catalogue.Catalogue) { last(c, "gh-ost --cut-over=two-step").Version = "" }, "it names no version"},
		"ErrNoReportAndNoneSo": {func(c *catalogue.Catalogue) { last(c, "gh-ost --cut-over=two-step").Report = "" }, "it names no public report"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := made()
			test.change(&c)
			gaps := c.Gaps(mutants)
			if test.want == "" {
				if len(gaps) > 0 {
					t.Errorf("got %q, want none", gaps)
				}
				return
			}
			for _, gap := range gaps {
				if strings.Contains(gap, test.want) {
					return
				}
			}
			t.Errorf("got %q, want one with %q", gaps, test.want)
		})
	}
}
