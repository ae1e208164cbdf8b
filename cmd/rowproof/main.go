// Command rowproof runs scenarios against schema-migration tools and shows
// what came of it.
//
// Read run.go first: it builds the scenarios as a test binary, starts it,
// watches its events, and reports from the run directories that it leaves.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"rowproof/reports"
)

// Exit statuses.
const (
	exitExpected    = 0 // every run ended as its scenario demands
	exitUnexpected  = 1 // one did not, or none was done
	exitUsage       = 2 // the command line is wrong
	exitEnvironment = 3 // something that rowproof needs is missing here
)

// exitError is an error with the exit status that it asks for.
type exitError struct {
	status int
	err    error // nil if all has been said
}

func (e exitError) Error() string { return fmt.Sprint(e.err) }
func (e exitError) Unwrap() error { return e.err }

func usage(err error) error       { return exitError{exitUsage, err} }
func environment(err error) error { return exitError{exitEnvironment, err} }

func main() {
	// A child is killed by Linux when the thread that started it ends, and
	// this one lives as long as rowproof.
	runtime.LockOSThread()
	os.Exit(execute(os.Args[1:], console{out: os.Stdout, err: os.Stderr}))
}

// console is where rowproof writes to: reports to out, progress and errors to
// err.
type console struct{ out, err *os.File }

// execute runs one command line and returns the exit status. The first
// interrupt ends the command in good order, the second at once.
func execute(args []string, c console) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRootCommand(c)
	root.SetArgs(args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitExpected
	}
	var exit exitError
	if !errors.As(err, &exit) { // cobra's own: an unknown command or flag
		exit = exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintln(c.err, "rowproof:", exit.err)
	}
	if exit.status == exitUsage {
		fmt.Fprintln(c.err, "Run 'rowproof --help' for usage.")
	}
	return exit.status
}

func newRootCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rowproof",
		Short: "Prove that an online schema migration loses no row, or show the row it lost",
		Long: `Rowproof runs data-loss scenarios against online schema migrations on real
MySQL servers, and shows that no row is lost, or which one and why.

Exit status: 0 every run is as its scenario demands, 1 one is not,
2 wrong usage, 3 something is missing on this machine (a Docker engine, Go).`,
		Example: `  rowproof list
  rowproof run seam-after-sync
  rowproof run 'seam-*' --subject osc --repeat 20
  rowproof judge reports/out/latest
  rowproof doctor`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(newListCommand(c), newCatalogueCommand(c), newRunCommand(c), newGenerateCommand(c), newJudgeCommand(c), newReportCommand(c), newDiffCommand(c),
		newRecordCommand(c), newTraceCommand(c), newDoctorCommand(c), newBenchCommand(c))
	return cmd
}

// show writes the report on runs and returns the error that carries their
// exit status.
func show(w *os.File, runs []reports.Run) error {
	if err := reports.WriteText(reports.NewTerminal(w), runs); err != nil {
		return environment(err)
	}
	if err := tellGitHub(w, runs); err != nil {
		return environment(err)
	}
	if !reports.Expected(runs) {
		return exitError{status: exitUnexpected}
	}
	return nil
}

// say writes a line for the user. An error shows up when the report itself
// is written to the same place.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
