// Command osc migrates a MySQL table's schema while it is in use.
//
// It reads flags into an engine.Config, runs it, and turns the outcome into
// an exit status. Everything it does is in the engine package.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	o := options{stdout: stdout, stderr: stderr}
	cmd := o.command(func(cmd *cobra.Command) (err error) {
		summary, err = o.migrate(cmd.Context(), cmd.Flags())
		return err
	})
	cmd.AddCommand(ctl())
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	var no unanswered
	if errors.As(err, &no) {
		fmt.Fprintln(stderr, "osc ctl: "+oneLine(err))
		return engine.Aborted
	}
	o.conclude(summary, err)
	return engine.OutcomeOf(err)
}

// options are the flags that are not the engine's own.
type options struct {
	cfg      engine.Config
	askPass  bool
	verbose  bool
	lockWait int

	checkpointSeconds float64

	defaultsFile string
	replicas     string
	maxLag       int
	maxPause     int
	json         bool
	flagFile     string
	moreFlagFile string

	stdout, stderr io.Writer
}

const long = `osc changes a MySQL table's definition while the table is in use.

It copies the table into a shadow with the new definition, applies what changes
meanwhile from the binary log, compares both, and swaps them in one step.
Without --execute it only checks whether that is safe, and changes nothing.

Ctrl-C or SIGTERM ends it cleanly: the shadow is removed, unless --checkpoint is
given. A run that is killed, or whose machine goes down, can be taken up with
--resume.

SIGUSR1 prints how far it is; osc ctl steers it while it runs.

The password is asked for with --ask-pass, or taken from --defaults-file, or
from the environment variable MYSQL_PWD. A flag goes before the defaults file,
and that before the environment. The file's group [client] gives host, port,
user, password, socket and ssl-*, its group [osc] any flag but --execute.

Exit status: 0 completed, 1 aborted with the original intact, 2 wrong usage,
3 refused by a check before anything was changed, 4 a person must look: the
message says what was found.`

const examples = `  osc --host db1 --user dba --database shop --table orders --alter "ADD COLUMN note TEXT"
  osc --host db1 --user dba --database shop --table orders --alter "ADD COLUMN note TEXT" --execute
  osc --host 127.0.0.1 --user dba --database shop --table orders --alter "ENGINE=InnoDB" --execute --ok-to-drop-table
  osc --defaults-file ~/.my.cnf --database shop --table orders --alter "ADD KEY (customer)" --execute \
      --throttle-control-replicas db2,db3:3307 --max-lag-millis 2000 --max-load Threads_running=40
  osc ... --execute --postpone-cut-over-flag-file /tmp/orders.postpone    # swap when the file is removed
  osc ctl --database shop --table orders status                          # see osc ctl --help`

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &engine.UsageError{Problem: fmt.Sprintf("unknown command %q; see osc --help", args[0])}
	}
	return nil
}

func (o *options) command(migrate func(*cobra.Command) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: "osc --database D --table T --alter \"...\" [--execute]", Short: "online schema change for MySQL",
		Long: long, Example: examples, Args: noArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return migrate(cmd) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return &engine.UsageError{Problem: err.Error() + "; see osc --help"}
	})
	cmd.CompletionOptions.DisableDefaultCmd = true
	groups := o.groups()
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd, groups) })
	return cmd
}

func (o *options) migrate(ctx context.Context, flags *pflag.FlagSet) (engine.Summary, error) {
	if err := o.complete(flags); err != nil {
		return engine.Summary{}, err
	}
	if o.lockWait < 1 {
		return engine.Summary{}, &engine.UsageError{Problem: "--cut-over-lock-timeout-seconds: want 1 to 60"}
	}
	o.cfg.CutOver.Wait = time.Duration(o.lockWait) * time.Second
	if err := o.limits(); err != nil {
		return engine.Summary{}, err
	}
	if o.checkpointSeconds < 0.01 {
		return engine.Summary{}, &engine.UsageError{Problem: "--checkpoint-seconds: want 0.01 to 3600"}
	}
	o.cfg.Checkpoint.Every = time.Duration(o.checkpointSeconds * float64(time.Second))
	if err := o.cfg.Validate(); err != nil {
		return engine.Summary{}, err
	}
	stop := o.listen()
	defer stop()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	defer signal.Stop(asked)
	o.cfg.Operator.Asked = asked
	return engine.Run(ctx, o.cfg)
}

// explain is the one line that a failed run ends with.
func explain(outcome engine.Outcome, err error) string {
	line := oneLine(err)
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
	if s.Instant {
		return fmt.Sprintf("%s is migrated: the server changed it by ALGORITHM=INSTANT, no row was copied; %v in all", s.Table, s.Elapsed.Round(time.Millisecond))
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
