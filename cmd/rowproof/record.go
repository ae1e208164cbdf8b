package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rowproof/harness/check"
	"rowproof/harness/subject"
	"rowproof/reports"
	"rowproof/reports/markdown"
)

func newRecordCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "record RUN_DIR...",
		Short: "Make what stored runs found the known findings",
		Long: `Write what stored runs found into reports/verdicts, where each finding takes the
place of an older one of its scenario and subject. A tool that is not ours may
do again what is known of it; anything else is not as expected. If it is Invalid,
the report on its run is kept in reports/verdicts/runs.

Findings on osc and its mutants are stored too, for the page that 'rowproof
catalogue' writes; their version is the commit that changed the engine last, so
record them before you change it. Repeats must agree, and a run that is Unknown
is no finding, nor is one under a random load. RUN_DIR is a run directory or any
directory above it.`,
		Example: `  rowproof run --subject gh-ost=$HOME/bin/gh-ost --repeat 3
  rowproof record reports/out/latest
  rowproof catalogue`,
		Args: storedDirs,
		RunE: func(cmd *cobra.Command, args []string) error { return record(cmd.Context(), c, args) },
	}
}

func record(ctx context.Context, c console, dirs []string) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	runs, err := reports.Load(dirs...)
	if err != nil {
		return loadError(err)
	}
	found, err := reports.Findings(runs)
	if err != nil {
		return exitError{exitUnexpected, err}
	}
	if len(found) == 0 {
		return usage(errors.New("record: all runs there are under a random load, which makes no finding"))
	}
	ours := engineVersion(ctx, root)
	for _, file := range []string{check.KnownOsc, check.KnownMutants} {
		for i := range found[file] {
			found[file][i].Version = ours
		}
	}
	if err := check.StoreFindings(root, found); err != nil {
		return environment(err)
	}
	for _, r := range runs {
		if err := keepReport(root, r); err != nil {
			return environment(err)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		say(c.out, "%s: %d", filepath.Join(check.KnownDir, file+".json"), len(found[file]))
	}
	return nil
}

// keepReport keeps the report on the run of a tool that is not ours, and
// removes that on an older run if nothing is wrong any more.
func keepReport(root string, r reports.Run) error {
	if !r.Record.Foreign || r.Record.Load != "" {
		return nil
	}
	f := check.NewFinding(r.Record, r.Conclusion.Judgement)
	file := filepath.Join(root, check.KnownDir, f.RunReport())
	if f.Verdict != check.Invalid {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove report: %w", err)
		}
		return nil
	}
	text, err := markdown.Bug(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// engineSources are what the osc program is made of, below the module's root.
var engineSources = []string{"engine", "cmd/osc", "go.mod", "go.sum", ":(exclude)*_test.go"}

// engineVersion names the commit that changed our engine last; "-dirty" says
// that it has changes beyond it.
func engineVersion(ctx context.Context, root string) string {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", slices.Concat([]string{"-C", root}, args, []string{"--"}, engineSources)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("log", "-1", "--format=%h", "--abbrev=7")
	changes, statusErr := git("status", "--porcelain")
	switch {
	case err != nil || statusErr != nil || commit == "":
		return "unknown" // the sources may lie outside any repository
	case changes != "":
		return commit + "-dirty"
	}
	return commit
}
