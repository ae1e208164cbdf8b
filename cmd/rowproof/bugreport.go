package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rowproof/harness/history"
	"rowproof/harness/script"
	"rowproof/harness/subject"
)

// bugReport is a scenario in a file.
type bugReport struct {
	id      string
	path    string // absolute
	control bool   // it names a control
}

// openReports splits the arguments into patterns and bug reports. It reads the
// reports, so that all that is wrong in them is told before anything starts.
func openReports(c console, root string, args []string) (patterns []string, files []bugReport, err error) {
	wrong := 0
	for _, arg := range args {
		if !strings.HasSuffix(arg, script.Extension) {
			patterns = append(patterns, arg)
			continue
		}
		report, err := openReport(c, root, arg)
		var problems script.Problems
		switch {
		case errors.As(err, &problems):
			wrong += len(problems)
			continue
		case err != nil:
			return nil, nil, err
		}
		path, err := filepath.Abs(arg)
		if err != nil {
			return nil, nil, environment(fmt.Errorf("find bug report: %w", err))
		}
		id := report.Scenario.ID
		if i := slices.IndexFunc(files, func(f bugReport) bool { return f.id == id }); i >= 0 {
			return nil, nil, usage(fmt.Errorf("%s and %s have one name, which their runs would share: give one another name", files[i].path, path))
		}
		files = append(files, bugReport{id: id, path: path, control: report.Scenario.Control != ""})
	}
	if wrong > 0 {
		return nil, nil, usage(wrongReports(wrong))
	}
	return patterns, files, nil
}

// openReport reads one bug report and says what is wrong in it, a line each.
func openReport(c console, root, path string) (*script.Report, error) {
	mutants, err := subject.Mutants(root)
	if err != nil {
		return nil, environment(err)
	}
	report, err := script.Read(path, mutants)
	var problems script.Problems
	switch {
	case errors.As(err, &problems):
		say(c.err, "%v", problems)
		return nil, problems
	case err != nil:
		return nil, usage(err)
	}
	return report, nil
}

func wrongReports(n int) error {
	if n == 1 {
		return errors.New("1 problem, named above; docs/bug-report.md tells what can stand in a bug report")
	}
	return fmt.Errorf("%d problems, named above; docs/bug-report.md tells what can stand in a bug report", n)
}

// among returns the bug reports that are among the chosen scenarios.
func among(files []bugReport, chosen []history.Event) []bugReport {
	var found []bugReport
	for _, f := range files {
		if slices.ContainsFunc(chosen, func(e history.Event) bool { return e.Scenario == f.id }) {
			found = append(found, f)
		}
	}
	return found
}

// filesVariable tells the scenarios which bug reports to run. It is set also
// if there is none.
func filesVariable(files []bugReport) string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return script.FilesEnv + "=" + strings.Join(paths, "\n")
}

// hasSubject reports an error if nothing but controls are asked for and a bug
// report has none.
func (o runOptions) hasSubject(files []bugReport) error {
	if slices.ContainsFunc(o.subjects, func(s string) bool { return s != "control" }) {
		return nil
	}
	for _, f := range files {
		if !f.control {
			return fmt.Errorf("--subject control: %s names no control: add control = \"MUTANT\" to it, or ask for another subject", f.id)
		}
	}
	return nil
}

func newGenerateCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "generate FILE.rp",
		Short: "Print a bug report as a Go test",
		Long: `Print a bug report as the Go test that it is equal to, for the folder scenarios.
From then on it runs with every other scenario, and can be changed as Go code.`,
		Example: `  rowproof generate bug.rp > scenarios/bug_test.go`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(1)(cmd, args); err != nil {
				return usage(err)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return generate(c, args[0]) },
	}
}

func generate(c console, path string) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	report, err := openReport(c, root, path)
	var problems script.Problems
	if errors.As(err, &problems) {
		return usage(wrongReports(len(problems)))
	}
	if err != nil {
		return err
	}
	code, err := report.Go()
	if err != nil {
		return environment(err)
	}
	if _, err := c.out.Write(code); err != nil {
		return environment(fmt.Errorf("write Go test: %w", err))
	}
	return nil
}
