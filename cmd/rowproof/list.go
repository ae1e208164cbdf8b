package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rowproof/harness/subject"
	"rowproof/reports"
)

func newListCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:     "list [SCENARIO...]",
		Short:   "List the scenarios, each with the bug that it is about",
		Example: "  rowproof list\n  rowproof list 'seam-*'",
		RunE:    func(cmd *cobra.Command, args []string) error { return list(cmd.Context(), c, args) },
	}
}

func list(ctx context.Context, c console, patterns []string) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	tmp, err := os.MkdirTemp("", "rowproof-")
	if err != nil {
		return environment(fmt.Errorf("make temporary directory: %w", err))
	}
	defer os.RemoveAll(tmp)
	s, err := buildScenarios(ctx, root, tmp)
	if err != nil {
		return err
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	chosen, err := choose(all, patterns)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, s := range chosen {
		say(w, "%s\t%s", s.Scenario, reports.BugLine(s.Bug))
	}
	return w.Flush()
}
