// Command osc migrates a MySQL table's schema while it is in use.
//
// It reads flags into an engine.Config, runs it, and turns the outcome into
// an exit status. Everything it does is in the engine package.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"rowproof/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(int(status))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) engine.Outcome {
	var summary engine.Summary
	o := options{stderr: stderr}
	cmd := o.command(func(ctx context.Context) (err error) {
		summary, err = o.migrate(ctx)
		return err
	})
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	outcome := engine.OutcomeOf(err)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "osc: "+explain(outcome, err))
	case summary.Table != "":
		fmt.Fprintln(stdout, describe(summary))
	}
	return outcome
}

// options are the flags that are not the engine's own.
type options struct {
	cfg      engine.Config
	askPass  bool
	verbose  bool
	lockWait int
	stderr   io.Writer
}

const long = `osc changes a MySQL table's definition while the table is in use.

It copies the table into a shadow with the new definition, applies what changes
meanwhile from the binary log, compares both, and swaps them in one step.
Without --execute it only checks whether that is safe, and changes nothing.

The password is taken from the environment variable MYSQL_PWD, or asked for
with --ask-pass.

Exit status: 0 completed, 1 aborted with the original intact, 2 wrong usage,
3 refused by a check before anything was changed, 4 a person must look: the
message says what was found.`

const examples = `  osc --host db1 --user dba --database shop --table orders --alter "ADD COLUMN note TEXT"
  osc --host db1 --user dba --database shop --table orders --alter "ADD COLUMN note TEXT" --execute
  osc --host 127.0.0.1 --user dba --database shop --table orders --alter "ENGINE=InnoDB" --execute --ok-to-drop-table`

func (o *options) command(migrate func(context.Context) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: "osc --database D --table T --alter \"...\" [--execute]", Short: "online schema change for MySQL",
		Long: long, Example: examples, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrate(cmd.Context()) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &engine.UsageError{Problem: err.Error() + "; see osc --help"}
	})
	groups := o.groups()
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd, groups) })
	return cmd
}

func (o *options) migrate(ctx context.Context) (engine.Summary, error) {
	if o.lockWait < 1 {
		return engine.Summary{}, &engine.UsageError{Problem: "--cut-over-lock-timeout-seconds: want 1 to 60"}
	}
	o.cfg.CutOver.Wait = time.Duration(o.lockWait) * time.Second
	if err := o.cfg.Validate(); err != nil {
		return engine.Summary{}, err
	}
	level := slog.LevelInfo
	if o.verbose {
		level = slog.LevelDebug
	}
	o.cfg.Log = slog.New(slog.NewTextHandler(o.stderr, &slog.HandlerOptions{Level: level}))
	o.cfg.Server.Password = os.Getenv("MYSQL_PWD")
	if o.askPass {
		fmt.Fprint(o.stderr, "Password: ")
		password, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(o.stderr)
		if err != nil {
			return engine.Summary{}, &engine.UsageError{Problem: "--ask-pass: standard input is no terminal"}
		}
		o.cfg.Server.Password = string(password)
	}
	return engine.Run(ctx, o.cfg)
}

// explain is the one line that a failed run ends with.
func explain(outcome engine.Outcome, err error) string {
	line := strings.ReplaceAll(err.Error(), "\n", "; ")
	switch {
	case outcome == engine.Aborted:
		return "aborted, the original is intact: " + line
	case outcome == engine.NeedsPerson:
		return "a person must look: " + line
	}
	return line
}

func describe(s engine.Summary) string {
	if !s.Executed {
		return fmt.Sprintf("%s can be migrated; nothing was changed (add --execute to do it)", s.Table)
	}
	old := "the old table was dropped"
	if s.OldTable != "" {
		old = "the old table is " + s.OldTable
	}
	verified := "both tables were compared before the swap"
	if !s.Verified {
		verified = "NOT VERIFIED (--verify=off)"
	}
	return fmt.Sprintf("%s is migrated: %d rows copied in %d chunks, %d changes applied, %s; writers waited %v; %s; %v in all",
		s.Table, s.Rows, s.Chunks, s.Changes, verified, s.Locked.Round(time.Millisecond), old, s.Elapsed.Round(time.Millisecond))
}
