package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// Answers of a check.
const (
	answerOK      = "ok"
	answerNote    = "note"    // it works, and there is something to know
	answerMissing = "missing" // runs can't be done without it
)

// answer is what a check found, as one line.
type answer struct {
	Name   string `json:"name"`
	Answer string `json:"answer"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to do
}

func newDoctorCommand(c console) *cobra.Command {
	var asJSON, clean bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine can run scenarios, and find what runs left behind",
		Long: `Check what runs need: Go, a Docker engine, images, memory, disk, ports, and the
right to freeze a server's thread. A server is started and ended for that. Each
check is one line: ok, note (it works, and there is something to know) or
missing, with what to do.

Containers whose owner is gone and images that other versions of rowproof made
are named; --clean removes exactly those.

Exit status: 0 nothing is missing, 3 something is.`,
		Example: "  rowproof doctor\n  rowproof doctor --json\n  rowproof doctor --clean",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return doctor(cmd.Context(), c, asJSON, clean) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&clean, "clean", false, "remove what earlier runs and versions left behind")
	return cmd
}

func noArguments(cmd *cobra.Command, args []string) error {
	if err := cobra.NoArgs(cmd, args); err != nil {
		return usage(err)
	}
	return nil
}

func doctor(ctx context.Context, c console, asJSON, clean bool) error {
	var answers []answer
	tell := func(a answer) {
		answers = append(answers, a)
		if !asJSON {
			say(c.out, "%s", a)
		}
	}
	examine(ctx, clean, tell)
	if ctx.Err() != nil {
		return interrupted()
	}
	missing := false
	for _, a := range answers {
		missing = missing || a.Answer == answerMissing
	}
	if asJSON {
		err := printJSON(c.out, struct {
			OK     bool     `json:"ok"`
			Checks []answer `json:"checks"`
		}{!missing, answers})
		if err != nil {
			return err
		}
	}
	if missing {
		return exitError{status: exitEnvironment}
	}
	return nil
}

func (a answer) String() string {
	line := fmt.Sprintf("%-8s %-10s %s", a.Answer, a.Name, a.Text)
	if a.Fix != "" {
		line += ": " + a.Fix
	}
	return line
}
