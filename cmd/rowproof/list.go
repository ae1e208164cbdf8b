package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"rowproof/harness/subject"
	"rowproof/reports"
)

func newListCommand(c console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [SCENARIO|FILE.rp...]",
		Short: "List the scenarios, each with the bug that it is about",
		Long: `List the scenarios: the anomaly that each one guards against, the control that
must show it, and the bug in a user's words.`,
		Example: "  rowproof list\n  rowproof list 'seam-*' --json",
		RunE:    func(cmd *cobra.Command, args []string) error { return list(cmd.Context(), c, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listed is a scenario in the JSON list.
type listed struct {
	Scenario string `json:"scenario"`
	Guards   string `json:"guards"`
	Control  string `json:"control"`
	Bug      string `json:"bug"`
	Test     string `json:"test"` // the Go test function
	// Reports are public reports of the bug, by short names.
	Reports []string `json:"reports,omitempty"`
}

func list(ctx context.Context, c console, patterns []string, asJSON bool) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	patterns, files, err := openReports(c, root, patterns)
	if err != nil {
		return err
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
	all, err := s.list(ctx, files)
	if err != nil {
		return err
	}
	chosen, err := choose(all, patterns, files)
	if err != nil {
		return err
	}
	var scenarios []listed
	for _, s := range chosen {
		scenarios = append(scenarios, listed{s.Scenario, s.Guards, s.Control, reports.BugLine(s.Bug), s.Test, s.Reports})
	}
	if asJSON {
		return printJSON(c.out, scenarios)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	say(w, "SCENARIO\tGUARDS\tCONTROL\tBUG")
	for _, s := range scenarios {
		say(w, "%s\t%s\t%s\t%s", s.Scenario, s.Guards, s.Control, s.Bug)
	}
	return w.Flush()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return environment(fmt.Errorf("write JSON: %w", err))
	}
	return nil
}
