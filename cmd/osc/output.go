package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"rowproof/engine"
)

// listen sends the log and the progress to where they are wanted: JSON
// lines, log lines, or on a terminal one line that is drawn again and again
// below the log. The function that it returns ends that.
func (o *options) listen() (stop func()) {
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	stop = func() {}
	operator := &o.cfg.Operator
	switch width := terminal(o.stderr); {
	case o.json:
		log := slog.New(slog.NewJSONHandler(o.stderr, options))
		o.cfg.Log = log
		operator.Progress = func(s engine.Status) { log.Info("progress", "status", s) }
		operator.Answer = func(s engine.Status) { log.Info("status", "status", s) }
	case width != nil:
		screen := &screen{out: o.stderr, width: width}
		o.cfg.Log = slog.New(slog.NewTextHandler(screen, options))
		operator.Every = time.Second
		operator.Progress = func(s engine.Status) { screen.show(s.Line()) }
		operator.Answer = func(s engine.Status) { fmt.Fprintln(screen, s) }
		stop = func() { screen.show("") }
	default:
		o.cfg.Log = slog.New(slog.NewTextHandler(o.stderr, options))
		operator.Answer = func(s engine.Status) { fmt.Fprintln(o.stderr, s) }
	}
	return stop
}

// terminal returns how wide a terminal is, or nil if w is none.
func terminal(w io.Writer) (width func() int) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 80
		}
		return width
	}
}

// screen is a terminal whose last line shows the progress.
type screen struct {
	mu    sync.Mutex
	out   io.Writer
	width func() int
	line  string
}

// wipe goes back to the start of the line and empties it.
const wipe = "\r\x1b[K"

// Write writes whole lines above the progress.
func (s *screen) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(lines)
	if s.line != "" {
		text = wipe + text + s.line
	}
	if _, err := io.WriteString(s.out, text); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// show replaces the progress. What does not fit is cut: a line that wraps
// can't be drawn again. A terminal that is gone shows nothing.
func (s *screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if runes := []rune(line); len(runes) >= s.width() {
		line = string(runes[:max(0, s.width()-2)]) + "…"
	}
	s.line = line
	_, _ = io.WriteString(s.out, wipe+line)
}

// conclude tells how the run ended.
func (o *options) conclude(summary engine.Summary, err error) {
	outcome := engine.OutcomeOf(err)
	switch {
	case o.json:
		if err != nil {
			slog.New(slog.NewJSONHandler(o.stderr, nil)).Error(explain(outcome, err))
		}
		// A struct of plain fields always encodes.
		_ = json.NewEncoder(o.stdout).Encode(conclusion{outcomeName(outcome), int(outcome), oneLine(err), summary})
	case err != nil:
		fmt.Fprintln(o.stderr, "osc: "+explain(outcome, err))
	case summary.Table != "":
		fmt.Fprintln(o.stdout, describe(summary))
	}
}

// conclusion is the summary that --json prints.
type conclusion struct {
	Outcome    string `json:"outcome"`
	ExitStatus int    `json:"exit_status"`
	Error      string `json:"error,omitempty"`
	engine.Summary
}

func outcomeName(o engine.Outcome) string {
	switch o {
	case engine.Completed:
		return "completed"
	case engine.Aborted:
		return "aborted"
	case engine.Usage:
		return "wrong usage"
	case engine.Refused:
		return "refused"
	}
	return "needs a person"
}

func oneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
