package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/script"
	"rowproof/harness/subject"
	"rowproof/reports"
	"rowproof/reports/catalogue"
)

func newCatalogueCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "catalogue",
		Short: "Write the page of all scenarios and of what each tool does in them",
		Long: `Write scenarios/README.md, the page of all scenarios: the bug that each is
about, its control and public reports, and what each tool does in it. The picture
of which scenario finds which mutant is reports/verdicts/kills.svg.

Both are made from the scenarios and from what 'rowproof record' has stored, and
never typed: a test fails if they are out of date, and if something is missing
that the command names: a scenario whose control is not known to be found, say.`,
		Example: `  rowproof run 'seam-*' --subject osc,control,pt-osc
  rowproof record reports/out/latest
  rowproof catalogue`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeCatalogue(cmd.Context(), c) },
	}
}

func writeCatalogue(ctx context.Context, c console) error {
	root, err := subject.ModuleRoot()
	if err != nil {
		return environment(err)
	}
	all, err := readCatalogue(ctx, root)
	if err != nil {
		return err
	}
	if err := all.Write(root); err != nil {
		return environment(err)
	}
	say(c.out, "%s and %s: %d scenarios", catalogue.PageFile, catalogue.PictureFile, len(all.Scenarios))
	mutants, err := subject.Mutants(root)
	if err != nil {
		return environment(err)
	}
	for _, gap := range all.Gaps(mutants) {
		say(c.err, "missing: %s", gap)
	}
	return nil
}

// readCatalogue asks the scenarios of the module at root, and reads what is
// known of them. Bug reports in files are no part of it.
func readCatalogue(ctx context.Context, root string) (catalogue.Catalogue, error) {
	var all catalogue.Catalogue
	tmp, err := os.MkdirTemp("", "rowproof-")
	if err != nil {
		return all, environment(fmt.Errorf("make temporary directory: %w", err))
	}
	defer os.RemoveAll(tmp)
	s, err := buildScenarios(ctx, root, tmp)
	if err != nil {
		return all, err
	}
	events, err := s.list(ctx, nil)
	if err != nil {
		return all, err
	}
	for _, e := range events {
		all.Scenarios = append(all.Scenarios, entry(e))
	}
	if all.Known, err = check.LoadFindings(root); err != nil {
		return all, environment(err)
	}
	all.Known = slices.DeleteFunc(all.Known, func(f check.Finding) bool { return strings.HasSuffix(f.Scenario, script.Extension) })
	return all, nil
}

func entry(e history.Event) catalogue.Scenario {
	return catalogue.Scenario{
		ID: e.Scenario, Bug: reports.BugLine(e.Bug), Guards: check.Kind(e.Guards),
		Control: strings.TrimPrefix(e.Control, history.MutantPrefix), Reports: e.Reports,
	}
}
