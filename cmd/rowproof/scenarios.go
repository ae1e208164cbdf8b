package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rowproof/harness"
	"rowproof/harness/history"
)

const (
	// grace is how long the scenarios may take to end after an interrupt.
	grace = 20 * time.Second
	// lastEvents is how long events may still arrive after the scenarios
	// have ended.
	lastEvents = time.Second
)

// scenarios is the test binary of package scenarios.
type scenarios struct {
	root string // of the module
	path string
}

// buildScenarios builds the test binary into dir.
func buildScenarios(ctx context.Context, root, dir string) (scenarios, error) {
	s := scenarios{root: root, path: filepath.Join(dir, "scenarios.test")}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.path, "./scenarios")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return s, interrupted()
	case errors.Is(err, exec.ErrNotFound):
		return s, environment(errors.New("build scenarios: the go command is needed and is not in PATH"))
	case err != nil:
		return s, environment(fmt.Errorf("build scenarios: %w\n%s", err, strings.TrimSpace(string(out))))
	}
	if _, err := os.Stat(s.path); err != nil { // a package without tests gives no binary
		return s, environment(fmt.Errorf("build scenarios: %s has no tests", filepath.Join(root, "scenarios")))
	}
	return s, nil
}

func interrupted() error { return exitError{exitUnexpected, errors.New("interrupted")} }

// start runs the test binary and hands its events to see, in this goroutine's
// absence but never two at once. It returns how the binary ended.
func (s scenarios) start(ctx context.Context, args, env []string, log io.Writer, see func(history.Event)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return environment(fmt.Errorf("start scenarios: %w", err))
	}
	defer r.Close()
	defer w.Close()

	cmd := exec.CommandContext(ctx, s.path, args...)
	cmd.Dir = filepath.Join(s.root, "scenarios") // where `go test` would run it
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{w} // descriptor 3
	cmd.Env = append(os.Environ(), history.EventsEnv+"=3")
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = sysProcAttr()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return environment(fmt.Errorf("start scenarios: %w", err))
	}
	w.Close() // the child's copy is the only one now

	seen := make(chan error, 1)
	go func() { seen <- readEvents(r, see) }()
	waitErr := cmd.Wait()
	// A process that the scenarios left behind may hold the pipe open.
	if err := r.SetReadDeadline(time.Now().Add(lastEvents)); err != nil {
		return environment(fmt.Errorf("read events: %w", err))
	}
	if err := <-seen; err != nil {
		return environment(err)
	}
	return waitErr
}

func readEvents(r io.Reader, see func(history.Event)) error {
	for dec := json.NewDecoder(r); ; {
		var e history.Event
		err := dec.Decode(&e)
		// An event cut short is the last word of a binary that was killed.
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		see(e)
	}
}

// list returns every scenario, and those of bug reports, by its id.
func (s scenarios) list(ctx context.Context, files []bugReport) ([]history.Event, error) {
	var found []history.Event
	var log strings.Builder
	err := s.start(ctx, []string{"-test.run=."}, []string{harness.ListEnv + "=1", filesVariable(files)}, &log, func(e history.Event) {
		if e.Kind == history.EventScenario {
			found = append(found, e)
		}
	})
	var exit exitError
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case errors.As(err, &exit):
		return nil, err
	case err != nil:
		return nil, environment(fmt.Errorf("list scenarios: %w\n%s", err, strings.TrimSpace(log.String())))
	}
	slices.SortFunc(found, func(a, b history.Event) int { return strings.Compare(a.Scenario, b.Scenario) })
	return found, nil
}

// choose returns the scenarios whose id matches one of the patterns and those
// of the bug reports, or all if neither is given. A pattern that matches
// nothing is wrong usage.
func choose(all []history.Event, patterns []string, files []bugReport) ([]history.Event, error) {
	if len(patterns)+len(files) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for i, s := range all {
		chosen[i] = slices.ContainsFunc(files, func(f bugReport) bool { return f.id == s.Scenario })
	}
	for _, pattern := range patterns {
		matched := false
		for i, s := range all {
			ok, err := path.Match(pattern, s.Scenario)
			if err != nil {
				return nil, usage(fmt.Errorf("choose scenarios: %q: %w", pattern, err))
			}
			chosen[i] = chosen[i] || ok
			matched = matched || ok
		}
		if !matched {
			return nil, usage(fmt.Errorf("choose scenarios: none is called %q; 'rowproof list' shows them", pattern))
		}
	}
	var out []history.Event
	for i, s := range all {
		if chosen[i] {
			out = append(out, s)
		}
	}
	return out, nil
}
