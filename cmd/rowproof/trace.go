package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rowproof/harness"
	"rowproof/harness/history"
	"rowproof/harness/subject"
	"rowproof/reports"
)

// The table that trace migrates unless it is given another one: enough rows
// for several chunks of a tool whose chunks are small.
const (
	traceTable = `CREATE TABLE pair (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(32) NOT NULL, val INT NOT NULL DEFAULT 0);
INSERT INTO pair (name, val) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT CONCAT('row ', i), i FROM n;
ANALYZE TABLE pair;
`
	traceAlter = "MODIFY val BIGINT NOT NULL DEFAULT 0"
	traceWrite = "UPDATE pair SET val = val + 1 WHERE id IN (1, 900)"
)

// traceOptions is what `rowproof trace` is asked for.
type traceOptions struct {
	alter string
	table string // file
	write string
	flags []string
}

func newTraceCommand(c console) *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:   "trace SUBJECT | RUN_DIR",
		Short: "Show each statement that a subject sends, and the step that it is",
		Long: `Run a subject once on a small table, with no faults, and show each statement
that it sent: when, over which connection, and the step that it was
recognised as, which is blank for none. The steps that were never said come
last. Of a RUN_DIR, the stored statements are shown so.

This is how a phrasebook for a new tool or version is written; docs/subjects.md
has an example.`,
		Example: `  rowproof trace osc
  rowproof trace gh-ost=$HOME/bin/gh-ost --subject-flag=--cut-over=two-step
  rowproof trace pt-osc --table-file orders.sql --alter 'MODIFY total DECIMAL(12,2) NOT NULL'
  rowproof trace reports/out/latest/seam-after-sync/osc/1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(1)(cmd, args); err != nil {
				return usage(err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(filepath.Join(args[0], history.StatementsFile)); err == nil {
				return showTrace(c, args[0])
			}
			return o.run(cmd.Context(), c, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.alter, "alter", traceAlter, "the `text` after ALTER TABLE t")
	flags.StringVar(&o.table, "table-file", "", "a `file` with the statements that make and fill one table")
	flags.StringVar(&o.write, "write", "", "a `statement` that the application sends all the time (default: an UPDATE, unless --table-file is given)")
	flags.StringArrayVar(&o.flags, "subject-flag", nil, "one more `argument` for the subject; may be repeated")
	return cmd
}

func (o traceOptions) run(ctx context.Context, c console, name string) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	t := harness.Trace{Root: root, Flags: o.flags, SQL: traceTable, Alter: o.alter, Write: o.write}
	if t.Subject, err = subject.Resolve(root, name); err != nil {
		return usage(fmt.Errorf("%w; and a run directory has a file %s", err, history.StatementsFile))
	}
	if o.table != "" {
		text, err := os.ReadFile(o.table)
		if err != nil {
			return usage(fmt.Errorf("--table-file: %w", err))
		}
		t.SQL = string(text)
	} else if o.write == "" {
		t.Write = traceWrite
	}
	if t.Dir, err = os.MkdirTemp("", "rowproof-trace-"); err != nil {
		return environment(fmt.Errorf("make temporary directory: %w", err))
	}
	defer os.RemoveAll(t.Dir)
	exit, err := t.Run(ctx)
	if err != nil {
		return environment(fmt.Errorf("trace %s: %w", name, err))
	}
	if err := showTrace(c, t.Dir); err != nil {
		return err
	}
	say(c.out, "%s ended: %s, exit status %d", name, exit.Outcome, exit.Code)
	if exit.Outcome != subject.Completed {
		return exitError{exitUnexpected, fmt.Errorf("trace %s: it said last: %s", name, reports.Printable(exit.Message))}
	}
	return nil
}

func showTrace(c console, dir string) error {
	statements, err := history.LoadStatements(dir)
	if err != nil {
		return environment(err)
	}
	if err := reports.WriteTrace(c.out, statements); err != nil {
		return environment(err)
	}
	return nil
}
