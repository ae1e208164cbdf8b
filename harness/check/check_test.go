package check_test

import (
	"testing"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
)

// Bad histories first: a checker that finds nothing is worth nothing.
func TestJudge(t *testing.T) {
	for _, c := range histories.Bad() {
		t.Run("Err "+c.Name, func(t *testing.T) {
			j := check.Judge(c.Record)
			r := resultOf(t, j, c.Checker)
			if c.Kind == "" {
				if r.Verdict != check.Unknown || len(r.Unknown) == 0 {
					t.Fatalf("got verdict %s, reasons %q, want Unknown and a reason", r.Verdict, r.Unknown)
				}
				if j.Verdict == check.Valid {
					t.Fatal("got a Valid judgement")
				}
				return
			}
			if j.Verdict != check.Invalid {
				t.Errorf("got judgement %s, want Invalid", j.Verdict)
			}
			for _, a := range r.Anomalies {
				if string(a.Kind) == c.Kind && a.Key == c.Key {
					t.Log(a.Text)
					return
				}
			}
			t.Fatalf("got %+v, want %s of row %q", r.Anomalies, c.Kind, c.Key)
		})
	}
	for name, record := range histories.Good() {
		t.Run("OK "+name, func(t *testing.T) {
			j := check.Judge(record)
			if j.Verdict != check.Valid {
				t.Errorf("got %s: %+v %q, want Valid", j.Verdict, j.Anomalies(), j.Reasons())
			}
			if got, want := len(j.Results), len(check.Checkers()); got != want {
				t.Errorf("got %d results, want %d: every checker always runs", got, want)
			}
		})
	}
}

// A judgement must not depend on whether the record was stored in between.
func TestJudgeStored(t *testing.T) {
	for _, c := range histories.Bad() {
		dir := t.TempDir()
		if err := history.Save(dir, c.Record); err != nil {
			t.Fatal(err)
		}
		stored, err := history.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, want := check.Judge(stored), check.Judge(c.Record)
		if got.Verdict != want.Verdict || len(got.Anomalies()) != len(want.Anomalies()) {
			t.Errorf("%s: got %s, want %s", c.Name, got.Verdict, want.Verdict)
		}
	}
}

func TestWorse(t *testing.T) {
	for _, c := range []struct{ a, b, want check.Verdict }{
		{check.Valid, check.Valid, check.Valid},
		{check.Valid, check.Unknown, check.Unknown},
		{check.Unknown, check.Invalid, check.Invalid},
	} {
		if got := c.a.Worse(c.b); got != c.want {
			t.Errorf("%s and %s: got %s, want %s", c.a, c.b, got, c.want)
		}
		if got := c.b.Worse(c.a); got != c.want {
			t.Errorf("%s and %s: got %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

func resultOf(t *testing.T, j check.Judgement, checker string) check.Result {
	t.Helper()
	for _, r := range j.Results {
		if r.Checker == checker {
			return r
		}
	}
	t.Fatalf("no checker %q", checker)
	return check.Result{}
}
