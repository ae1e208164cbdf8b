package reports_test

import (
	"fmt"
	"strings"
	"testing"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
)

func TestSlowest(t *testing.T) {
	run := func(scenario string, seconds, migrating float64) reports.Run {
		return reports.Run{
			Record: &history.Record{Scenario: scenario, Subject: "osc", Phases: []history.Phase{
				{Name: "starting the cluster", Seconds: 0.01}, {Name: "migrating", Seconds: migrating},
			}},
			Conclusion: check.Conclusion{Judgement: check.Judgement{Verdict: check.Valid}, Expected: true, Seconds: seconds},
		}
	}
	var runs []reports.Run
	for n := range 10 {
		runs = append(runs, run(fmt.Sprintf("s-%d", n), float64(n+1), float64(n)))
	}
	text := func(runs []reports.Run) string {
		var b strings.Builder
		if err := reports.WriteText(reports.Terminal{W: &b}, runs); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}

	t.Run("OK/AllAreNamedAbove", func(t *testing.T) {
		if got := text(runs); strings.Contains(got, "slowest") {
			t.Errorf("ten scenarios:\n%s", got)
		}
	})

	t.Run("OK", func(t *testing.T) {
		got := text(append(runs, run("slow", 6, 5.9), run("slow", 8, 7.9)))
		want := `
The 10 slowest of 11 scenarios, in seconds:
  slow   14.0 in 2 runs: migrating 13.8, the rest 0.2
  s-9    10.0 in 1 run: migrating 9.0, the rest 1.0
`
		if !strings.Contains(got, want) || strings.Contains(got[strings.Index(got, "slowest"):], "s-0") {
			t.Errorf("got:\n%s\nwant in it, and no s-0:\n%s", got, want)
		}
	})
}
