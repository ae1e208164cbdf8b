package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"rowproof/harness/history"
	"rowproof/reports"
)

func events() []history.Event {
	osc := history.Event{Scenario: "seam-after-sync", Subject: "osc", Dir: "1"}
	control := history.Event{Scenario: "seam-after-sync", Subject: "mutant:range-read-trusts-attach", Dir: "2"}
	kind := func(e history.Event, k history.EventKind) history.Event { e.Kind = k; return e }
	migrating := kind(osc, history.EventRunPhase)
	migrating.Phase = "migrating"
	ended := kind(osc, history.EventRunEnd)
	ended.Verdict, ended.Expected, ended.Seconds = "Valid", true, 1.5
	failed := kind(control, history.EventRunEnd)
	failed.Verdict, failed.Anomaly, failed.Seconds = "Invalid", "stale row", 2.25
	return []history.Event{
		{Kind: history.EventPhase, Phase: "building the MySQL image"},
		kind(osc, history.EventRunStart), kind(control, history.EventRunStart),
		migrating, ended, failed,
	}
}

func TestProgress(t *testing.T) {
	t.Run("OK/Plain", func(t *testing.T) {
		var b bytes.Buffer
		p := reports.NewProgress(reports.Terminal{W: &b})
		for _, e := range events() {
			p.Show(e)
		}
		p.Close()
		golden(t, "progress.golden", b.Bytes())
	})

	t.Run("OK/Live", func(t *testing.T) {
		var b bytes.Buffer
		p := reports.NewProgress(reports.Terminal{W: &b, Live: true})
		for _, e := range events() {
			p.Show(e)
		}
		p.Close()
		for _, want := range []string{"building the MySQL image", "Valid (as expected)", "Invalid: stale row (NOT as expected)"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("screen %q lacks %q", b.String(), want)
			}
		}
	})

	t.Run("OK/LiveInterrupted", func(t *testing.T) {
		var b bytes.Buffer
		p := reports.NewProgress(reports.Terminal{W: &b, Live: true})
		for _, e := range events()[:4] {
			p.Show(e)
		}
		p.Close()
		if got, want := strings.Count(b.String(), "ended without a verdict"), 2; got != want {
			t.Errorf("screen %q: got %d interrupted runs, want %d", b.String(), got, want)
		}
	})

	t.Run("OK/LiveWithoutEvents", func(t *testing.T) {
		var b bytes.Buffer
		reports.NewProgress(reports.Terminal{W: &b, Live: true}).Close()
		if b.Len() > 0 {
			t.Errorf("screen: got %q, want nothing", b.String())
		}
	})
}
