package main

import (
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
		RunE: func(cmd *cobra.Command, args []string) error {
			root, err := subject.ModuleRoot()
			if err != nil {
				return environment(err)
			}
			tmp, err := os.MkdirTemp("", "rowproof-")
			if err != nil {
				return environment(fmt.Errorf("make temporary directory: %w", err))
			}
			defer os.RemoveAll(tmp)
			s, err := buildScenarios(cmd.Context(), root, tmp)
			if err != nil {
				return err
			}
			all, err := s.list(cmd.Context())
			if err != nil {
				return err
			}
			chosen, err := choose(all, args)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
			for _, s := range chosen {
				say(w, "%s\t%s", s.Scenario, reports.BugLine(s.Bug))
			}
			return w.Flush()
		},
	}
}
