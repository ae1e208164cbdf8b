package reports

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// redrawEvery is the time between two drawings of the running lines.
const redrawEvery = 100 * time.Millisecond

// Progress shows a suite while it runs: on a terminal one line per run that
// is updated in place, otherwise a plain line for each run that ended. It is
// for one goroutine, which must call Close.
type Progress struct {
	t       Terminal
	lines   map[runKey]*progress.Tracker
	suite   *progress.Tracker // what is done for all runs at once
	writer  progress.Writer   // nil unless the terminal is live
	stopped chan struct{}
}

// runKey is what tells one run from another.
type runKey struct {
	scenario, subject string
	verify            bool
	load, dir         string
}

// NewProgress returns a view that draws on t.
func NewProgress(t Terminal) *Progress {
	p := &Progress{t: t, lines: map[runKey]*progress.Tracker{}}
	if t.Live {
		p.startDrawing()
	}
	return p
}

func (p *Progress) startDrawing() {
	p.writer = progress.NewWriter()
	p.writer.SetOutputWriter(p.t.W)
	p.writer.SetUpdateFrequency(redrawEvery)
	p.writer.SetTrackerPosition(progress.PositionRight)
	style := progress.StyleDefault
	style.Colors = progress.StyleColors{}
	style.Visibility = progress.StyleVisibility{Time: true}
	style.Options.Separator = ""
	style.Options.DoneString = ""
	style.Options.ErrorString = ""
	style.Options.PercentIndeterminate = ""
	style.Options.TimeInProgressPrecision = time.Second
	style.Options.TimeDonePrecision = 10 * time.Millisecond
	p.writer.SetStyle(style)
	p.stopped = make(chan struct{})
	go func() {
		defer close(p.stopped)
		p.writer.Render()
	}()
}

// Show takes up one event.
func (p *Progress) Show(e history.Event) {
	switch e.Kind {
	case history.EventPhase:
		p.showPhase(e)
	case history.EventRunStart:
		p.endSuite()
		p.update(e, "starting")
	case history.EventRunPhase:
		p.update(e, e.Phase)
	case history.EventRunEnd:
		p.end(e)
	}
}

func (p *Progress) showPhase(e history.Event) {
	if p.writer == nil {
		p.line(e.Phase)
		return
	}
	p.endSuite()
	p.suite = &progress.Tracker{Message: Printable(e.Phase)}
	p.writer.AppendTracker(p.suite)
}

func (p *Progress) endSuite() {
	if p.suite != nil {
		p.suite.MarkAsDone()
		p.suite = nil
	}
}

func (p *Progress) update(e history.Event, phase string) {
	if p.writer == nil {
		return
	}
	key := keyOf(e)
	message := p.label(e) + Printable(phase)
	if t, ok := p.lines[key]; ok {
		t.UpdateMessage(message)
		return
	}
	t := &progress.Tracker{Message: message}
	p.lines[key] = t
	p.writer.AppendTracker(t)
}

func (p *Progress) end(e history.Event) {
	verdict := e.Verdict
	if e.Anomaly != "" {
		verdict += ": " + e.Anomaly
	}
	mark := "as expected"
	if !e.Expected {
		mark = "NOT as expected"
	}
	ending := fmt.Sprintf("%s (%s)", Printable(verdict), mark)
	if e.Verdict == string(check.NotApplicable) {
		ending = e.Verdict
	}
	ended := p.label(e) + p.t.verdict(e.Expected, ending)
	if p.writer == nil {
		p.line(fmt.Sprintf("%s %.2f s", ended, e.Seconds))
		return
	}
	p.update(e, "")
	key := keyOf(e)
	p.lines[key].UpdateMessage(ended)
	p.lines[key].MarkAsDone()
	delete(p.lines, key)
}

func (p *Progress) label(e history.Event) string {
	return text.Pad(e.Scenario, 24, ' ') + " " + text.Pad(EventSubject(e), 32, ' ') + " "
}

// line writes a plain line. An error shows up again when the report itself is
// written to the same place.
func (p *Progress) line(s string) { _, _ = io.WriteString(p.t.W, s+"\n") }

// Close draws the last state and waits until nothing is drawn any more. Runs
// that have not ended are shown as interrupted.
func (p *Progress) Close() {
	if p.writer == nil {
		return
	}
	p.endSuite()
	for key, t := range p.lines {
		t.UpdateMessage(p.label(history.Event{Scenario: key.scenario, Subject: key.subject, Verify: key.verify, Load: key.load}) +
			p.t.verdict(false, "ended without a verdict"))
		t.MarkAsErrored()
	}
	// Stop has no effect on a renderer that has not begun yet.
	for again := time.NewTicker(redrawEvery); ; <-again.C {
		p.writer.Stop()
		select {
		case <-p.stopped:
			again.Stop()
			return
		default:
		}
	}
}

func keyOf(e history.Event) runKey { return runKey{e.Scenario, e.Subject, e.Verify, e.Load, e.Dir} }
