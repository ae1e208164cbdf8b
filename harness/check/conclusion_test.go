package check_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

func TestConclude(t *testing.T) {
	anomaly := func(kinds ...check.Kind) check.Result {
		r := check.Result{Verdict: check.Invalid}
		for _, k := range kinds {
			r.Anomalies = append(r.Anomalies, check.Anomaly{Kind: k})
		}
		return r
	}
	doubt := check.Result{Verdict: check.Unknown, Unknown: []string{"the fault never fired"}}
	for name, tt := range map[string]struct {
		control bool
		verdict check.Verdict
		results []check.Result
		reason  string // "" is as expected
	}{
		"OK/SubjectValid":          {false, check.Valid, nil, ""},
		"OK/ControlInvalid":        {true, check.Invalid, []check.Result{anomaly(check.StaleRow, check.LostRow)}, ""},
		"ErrSubjectInvalid":        {false, check.Invalid, []check.Result{anomaly(check.LostRow)}, `the subject must be Valid and was Invalid for "lost row"`},
		"ErrSubjectUnknown":        {false, check.Unknown, []check.Result{doubt}, "the subject must be Valid and was Unknown: the fault never fired"},
		"ErrControlValid":          {true, check.Valid, nil, `the control must show "lost row" and was Valid`},
		"ErrControlOtherAnomaly":   {true, check.Invalid, []check.Result{anomaly(check.StaleRow)}, `the control must show "lost row" and was Invalid for "stale row"`},
		"ErrControlInvalidInDoubt": {true, check.Invalid, []check.Result{anomaly(check.LostRow), doubt}, "the control's run is in doubt: the fault never fired"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &history.Record{Control: tt.control, Guards: string(check.LostRow)}
			j := check.Judgement{Verdict: tt.verdict, Results: tt.results}
			want := check.Conclusion{Judgement: j, Control: tt.control, Expected: tt.reason == "", Reason: tt.reason, Seconds: 1.5}
			if diff := cmp.Diff(want, check.Conclude(r, j, nil, 1.5)); diff != "" {
				t.Errorf("conclusion (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConcludeForeign(t *testing.T) {
	lost := check.Result{Verdict: check.Invalid, Anomalies: []check.Anomaly{{Kind: check.LostRow}}}
	doubt := check.Result{Verdict: check.Unknown, Unknown: []string{"a doubt"}}
	known := check.Finding{Scenario: "s", Subject: "tool --fast", Outcome: "completed", Verdict: check.Invalid, Anomaly: check.LostRow, Date: "2026-01-01"}
	with := func(change func(*check.Finding)) check.Findings {
		k := known
		change(&k)
		return check.Findings{k}
	}
	for name, tt := range map[string]struct {
		known   check.Findings
		verdict check.Verdict
		results []check.Result
		want    bool
	}{
		"OK/Valid":            {nil, check.Valid, nil, true},
		"OK/ValidThoughKnown": {check.Findings{known}, check.Valid, nil, true},
		"OK/Known":            {check.Findings{known}, check.Invalid, []check.Result{lost}, true},
		"OK/KnownOfAnother":   {with(func(k *check.Finding) { k.Version = "0.9" }), check.Invalid, []check.Result{lost}, true},
		"ErrUnknownVerdict":   {check.Findings{known}, check.Unknown, []check.Result{doubt}, false},
		"ErrInDoubt":          {check.Findings{known}, check.Invalid, []check.Result{lost, doubt}, false},
		"ErrNotKnown":         {nil, check.Invalid, []check.Result{lost}, false},
		"ErrOtherScenario":    {with(func(k *check.Finding) { k.Scenario = "t" }), check.Invalid, []check.Result{lost}, false},
		"ErrOtherFlags":       {with(func(k *check.Finding) { k.Subject = "tool" }), check.Invalid, []check.Result{lost}, false},
		"ErrOtherAnomaly":     {with(func(k *check.Finding) { k.Anomaly = check.StaleRow }), check.Invalid, []check.Result{lost}, false},
		"ErrOtherOutcome":     {with(func(k *check.Finding) { k.Outcome = "aborted" }), check.Invalid, []check.Result{lost}, false},
		"ErrKnownAsValid":     {with(func(k *check.Finding) { k.Verdict, k.Anomaly = check.Valid, "" }), check.Invalid, []check.Result{lost}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &history.Record{Scenario: "s", Subject: "tool", Foreign: true, Flags: []string{"--fast"}, Guards: string(check.LostRow), Exit: history.Exit{Outcome: "completed"}}
			c := check.Conclude(r, check.Judgement{Verdict: tt.verdict, Results: tt.results}, tt.known, 1)
			if c.Expected != tt.want || c.Expected == (c.Reason != "") {
				t.Errorf("expected: got %v, reason %q, want %v", c.Expected, c.Reason, tt.want)
			}
			if (c.Known != nil) != (tt.want && tt.verdict == check.Invalid) {
				t.Errorf("known: got %v", c.Known)
			}
		})
	}
}

// What the subject has no step for is not run, and is no pass either.
func TestNotApplicable(t *testing.T) {
	r := &history.Record{Scenario: "s", Subject: "tool", Foreign: true, Missing: []string{"apply", "drain"}, Planned: []string{"a fault"}}
	j := check.Judge(r)
	if j.Verdict != check.NotApplicable || j.Verdict == check.Valid {
		t.Errorf("verdict: got %s, want %s", j.Verdict, check.NotApplicable)
	}
	if diff := cmp.Diff([]string{"tool lacks apply, drain"}, j.Reasons()); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// A tool that is not ours may give up where the scenario asks for an end, and
// complete where ours has to stop on the way; but never where the scenario asks
// for a refusal.
func TestForeignOutcomes(t *testing.T) {
	for name, tt := range map[string]struct {
		foreign         bool
		expect, outcome string
		code            int
		want            check.Verdict
	}{
		"OK/Completed":               {true, "completed", "completed", 0, check.Valid},
		"OK/Aborted":                 {true, "completed", "aborted", 1, check.Valid},
		"OK/Refused":                 {true, "completed", "refused", 1, check.Valid},
		"OK/AbortedForRefused":       {true, "refused", "aborted", 1, check.Valid},
		"OK/CompletedForAborted":     {true, "aborted", "completed", 0, check.Valid},
		"ErrOursCompletedForAborted": {false, "aborted", "completed", 0, check.Invalid},
		"ErrCompleted":               {true, "refused", "completed", 0, check.Invalid},
		"ErrKilled":                  {true, "completed", "killed", -1, check.Invalid},
		"ErrAbortedWithZero":         {true, "completed", "aborted", 0, check.Invalid},
		"ErrSwappedAndFailed":        {true, "completed", "completed", 1, check.Invalid},
		"ErrOurs":                    {false, "completed", "aborted", 1, check.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			r := &history.Record{Foreign: tt.foreign, Expect: tt.expect, Exit: history.Exit{Outcome: tt.outcome, Code: tt.code}}
			if got := check.OutcomeExpected(r).Verdict; got != tt.want {
				t.Errorf("verdict: got %s, want %s", got, tt.want)
			}
		})
	}

	t.Run("OK/RefusedBeforeTheFault", func(t *testing.T) {
		r := &history.Record{Planned: []string{"a fault"}, Exit: history.Exit{Outcome: "refused", Code: 1}}
		if got := check.FaultsFired(r).Verdict; got != check.Valid {
			t.Errorf("verdict: got %s, want %s", got, check.Valid)
		}
	})
	t.Run("OK/OtherToolAbortedBeforeTheFault", func(t *testing.T) {
		r := &history.Record{Foreign: true, Planned: []string{"a fault"}, Exit: history.Exit{Outcome: "aborted", Code: 1}}
		if got := check.FaultsFired(r).Verdict; got != check.Valid {
			t.Errorf("verdict: got %s, want %s", got, check.Valid)
		}
	})
	t.Run("ErrAbortedBeforeTheFault", func(t *testing.T) {
		r := &history.Record{Planned: []string{"a fault"}, Exit: history.Exit{Outcome: "aborted", Code: 1}}
		if got := check.FaultsFired(r).Verdict; got != check.Unknown {
			t.Errorf("verdict: got %s, want %s", got, check.Unknown)
		}
	})
}

func TestFindingsFiles(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, check.KnownDir), 0o755); err != nil {
		t.Fatal(err)
	}
	lost := check.Finding{Scenario: "b", Subject: "tool", Version: "1", Outcome: "completed", Verdict: check.Invalid, Anomaly: check.LostRow, Date: "2026-01-01", Report: check.NoReport}
	fine := check.Finding{Scenario: "a", Subject: "tool", Version: "1", Outcome: "completed", Verdict: check.Valid, Date: "2026-01-01"}
	store := func(t *testing.T, f ...check.Finding) check.Findings {
		t.Helper()
		if err := check.StoreFindings(root, map[string]check.Findings{"tool": f}); err != nil {
			t.Fatal(err)
		}
		all, err := check.LoadFindings(root)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}

	t.Run("OK", func(t *testing.T) {
		if diff := cmp.Diff(check.Findings{fine, lost}, store(t, lost, fine)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
	t.Run("OK/NewerTakesThePlaceAndKeepsTheReport", func(t *testing.T) {
		reported := lost
		reported.Report = "https://example.org/1"
		store(t, reported) // what a person has written into the file
		if err := history.WriteJSON(filepath.Join(root, check.KnownDir, "tool.json"), check.Findings{reported}); err != nil {
			t.Fatal(err)
		}
		again := lost
		again.Version, again.Date = "2", "2026-02-02"
		want := again
		want.Report = reported.Report
		if diff := cmp.Diff(check.Findings{want}, store(t, again)); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
	t.Run("OK/None", func(t *testing.T) {
		if got, err := check.LoadFindings(t.TempDir()); err != nil || len(got) > 0 {
			t.Errorf("load: got %v, %v, want none", got, err)
		}
	})
	t.Run("ErrBroken", func(t *testing.T) {
		if err := os.WriteFile(filepath.Join(root, check.KnownDir, "other.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := check.LoadFindings(root); err == nil || !strings.Contains(err.Error(), "other.json") {
			t.Errorf("load: got %v, %v, want an error that names the file", got, err)
		}
	})
}

func TestHeadline(t *testing.T) {
	j := check.Judgement{Results: []check.Result{{Anomalies: []check.Anomaly{{Kind: check.SchemaDifference}, {Kind: check.LostRow}}}}}
	for guards, want := range map[check.Kind]check.Kind{
		check.LostRow:  check.LostRow,          // the guarded one comes first
		check.StaleRow: check.SchemaDifference, // it was not found
	} {
		if got := j.Headline(guards); got != want {
			t.Errorf("headline for a guard against %q: got %q, want %q", guards, got, want)
		}
	}
	if got := (check.Judgement{}).Headline(check.LostRow); got != "" {
		t.Errorf("headline of nothing: got %q", got)
	}
}

func TestConclusionFile(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		dir := t.TempDir()
		want := check.Conclusion{
			Judgement: check.Judgement{Scenario: "s", Subject: "osc", Verdict: check.Invalid,
				Results: []check.Result{{Checker: "c", Verdict: check.Invalid, Anomalies: []check.Anomaly{{Kind: check.LostRow, Key: "1"}}}}},
			Reason: "because", Seconds: 2,
		}
		if err := check.SaveConclusion(dir, want); err != nil {
			t.Fatal(err)
		}
		got, err := check.LoadConclusion(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("conclusion (-want +got):\n%s", diff)
		}
	})

	t.Run("ErrNotJudged", func(t *testing.T) {
		if _, err := check.LoadConclusion(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("load: got %v, want %v", err, fs.ErrNotExist)
		}
	})
}

// A key of several columns, and a step without a statement, as a dump is.
func TestNamesOfCompositeKey(t *testing.T) {
	names := check.Names(history.Table{Key: []string{"a", "b"}}, "1,2")
	for text, want := range map[string]bool{"": false, "WHERE a > 0": false, "(1,2)": true} {
		if got := names(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
