package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/parting"
)

func newDiffCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "diff RUN_DIR RUN_DIR",
		Short: "Say where two runs of one scenario first part ways",
		Long: `Say where two runs of one scenario first part ways: in what the clients did, in
the tool's statements and the answers to them, in the faults, the binlog, the
final rows. Runs are compared by the order of things, not by time.

Exit status: 0 they do not part ways, 1 they do.`,
		Example: `  rowproof diff monday/seam-after-sync/osc/1 tuesday/seam-after-sync/osc/1
  rowproof diff out/seam-after-sync/osc/1 out/seam-after-sync/mutant-range-read-trusts-attach/1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(2)(cmd, args); err != nil {
				return usage(err)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return diff(c, args[0], args[1]) },
	}
}

func diff(c console, dirA, dirB string) error {
	a, recordA, err := oneRun(dirA)
	if err != nil {
		return err
	}
	b, recordB, err := oneRun(dirB)
	if err != nil {
		return err
	}
	if recordA.Scenario != recordB.Scenario {
		return usage(fmt.Errorf("%s is a run of %s and %s one of %s: only runs of one scenario can be compared", dirA, recordA.Scenario, dirB, recordB.Scenario))
	}
	say(c.out, "Two runs of %s:", reports.Printable(recordA.Scenario))
	for _, r := range []struct {
		name, dir string
		run       reports.Run
	}{{"A", dirA, a}, {"B", dirB, b}} {
		verdict := r.run.VerdictText()
		if anomaly := r.run.Anomaly(); anomaly != "" {
			verdict += ", " + anomaly
		}
		say(c.out, "  %s: %s, %s (seed %d): %s", r.name, r.dir, reports.Printable(r.run.SubjectName()), r.run.Record.Seed, verdict)
	}
	say(c.out, "")
	comparison := parting.Compare(recordA, recordB)
	if err := comparison.WriteText(c.out, reports.Printable); err != nil {
		return environment(err)
	}
	if len(comparison.Partings) > 0 {
		return exitError{status: exitUnexpected}
	}
	return nil
}

// oneRun loads the one run of a directory.
func oneRun(dir string) (reports.Run, *history.Record, error) {
	runs, err := reports.Load(dir)
	if err != nil {
		return reports.Run{}, nil, loadError(err)
	}
	if len(runs) != 1 {
		return reports.Run{}, nil, usage(fmt.Errorf("%s holds %d runs: name one of them", dir, len(runs)))
	}
	record, err := history.Load(runs[0].Dir)
	if err != nil {
		return reports.Run{}, nil, loadError(fmt.Errorf("%s ended before all of it was stored: %w", dir, err))
	}
	return runs[0], record, nil
}
