package main

import (
	"errors"
	"io/fs"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rowproof/harness/check"
	"rowproof/harness/subject"
	"rowproof/reports"
)

// storedDirs asks for at least one directory that holds stored runs.
func storedDirs(cmd *cobra.Command, args []string) error {
	if err := cobra.MinimumNArgs(1)(cmd, args); err != nil {
		return usage(err)
	}
	return nil
}

func newJudgeCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "judge RUN_DIR...",
		Short: "Judge stored runs again, with the checkers of this version",
		Long: `Judge stored runs again, with the checkers of this version. The new verdict
replaces the stored one; a verdict or an anomaly that changed is named. The pages
of the runs stay as they are until 'rowproof report' writes them anew.

RUN_DIR is a run directory or any directory above it.`,
		Example: `  rowproof judge reports/out/latest
  rowproof judge reports/out/latest/seam-after-sync/osc/1`,
		Args: storedDirs,
		RunE: func(_ *cobra.Command, args []string) error { return judge(c, args) },
	}
}

func judge(c console, dirs []string) error {
	known, err := knownFindings()
	if err != nil {
		return environment(err)
	}
	before, err := reports.Load(dirs...)
	if err != nil {
		return loadError(err)
	}
	runs := make([]reports.Run, len(before))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, old := range before {
		group.Go(func() (err error) {
			runs[i], err = reports.Judge(old.Dir, known)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return loadError(err)
	}
	for i, old := range before {
		if was, is := verdictOf(old), verdictOf(runs[i]); was != is {
			say(c.err, "%s was %s and is %s now", old.Dir, was, is)
		}
	}
	return show(c.out, runs)
}

// verdictOf is a run's verdict with the anomaly that a table shows for it.
func verdictOf(r reports.Run) string {
	v := string(r.Conclusion.Judgement.Verdict)
	if a := r.Anomaly(); a != "" {
		v += " (" + a + ")"
	}
	return v
}

func newReportCommand(c console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RUN_DIR...",
		Short: "Show stored runs again",
		Long: `Show stored runs again as a table with their stories, and write their pages:
run.html in each run directory, bug.md in that of each Invalid run, and
index.html, junit.xml and results.json for all of them. Several suites at once
are compared on the page.

RUN_DIR is a run directory or any directory above it.`,
		Example: `  rowproof report reports/out/latest
  rowproof report monday/ tuesday/ --out both/`,
		Args: storedDirs,
		RunE: func(_ *cobra.Command, args []string) error { return report(c, args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "existing `directory` for index.html, junit.xml and results.json (default: the first RUN_DIR)")
	return cmd
}

func report(c console, dirs []string, out string) error {
	runs, err := reports.Load(dirs...)
	if err != nil {
		return loadError(err)
	}
	if out == "" {
		out = dirs[0]
	}
	if err := render(out, runs); err != nil {
		return loadError(err)
	}
	return show(c.out, runs)
}

// knownFindings are those of the module; none outside of it.
func knownFindings() (check.Findings, error) {
	root, err := subject.ModuleRoot()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return check.LoadFindings(root)
}

// loadError is wrong usage if a directory is not there or holds no run.
func loadError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	}
	return environment(err)
}
