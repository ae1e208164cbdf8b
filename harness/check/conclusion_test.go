package check_test

import (
	"errors"
	"io/fs"
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
			if diff := cmp.Diff(want, check.Conclude(r, j, 1.5)); diff != "" {
				t.Errorf("conclusion (-want +got):\n%s", diff)
			}
		})
	}
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
