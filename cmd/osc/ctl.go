package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rowproof/engine"
	"rowproof/engine/control"
)

const ctlLong = `osc ctl sends a command to a running migration, through its control socket.

The commands are status, pause, resume, cut-over, abort, set NAME VALUE, and
help, which explains them. The socket is named in the migration's log; for a
migration with the default socket, its --host, --port, --database and --table
find it as well.

Exit status: 0 done, 1 the migration does not answer or says no, 2 wrong usage.`

const ctlExamples = `  osc ctl --database shop --table orders status
  osc ctl --socket /run/osc/orders.sock set max-lag-millis 3000
  osc ctl --host db1 --database shop --table orders cut-over`

// unanswered is a command that was not carried out.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// ctl is the subcommand that steers a migration.
func ctl() *cobra.Command {
	var socket, host, database, table string
	var port uint16
	cmd := &cobra.Command{
		Use: "ctl [--socket FILE | --database D --table T] COMMAND [ARGUMENT...]", Short: "steer a running migration",
		Long: ctlLong, Example: ctlExamples, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			switch {
			case len(words) == 0:
				return &engine.UsageError{Problem: "the command is missing; see osc ctl --help"}
			case socket == "" && (database == "" || table == ""):
				return &engine.UsageError{Problem: "name the migration: --socket, or --database and --table"}
			case socket == "":
				socket = control.DefaultPath(net.JoinHostPort(host, strconv.Itoa(int(port))), database, table)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 10*time.Second)
			defer cancel()
			answer, err := control.Ask(ctx, socket, strings.Join(words, " "))
			if err != nil {
				return unanswered{err}
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), answer)
			return err
		},
	}
	f := flagSet("ctl")
	f.StringVar(&socket, "socket", "", "control socket of the migration")
	f.StringVar(&host, "host", "127.0.0.1", "host of the source, as the migration was given it")
	f.Uint16Var(&port, "port", 3306, "port of the source")
	f.StringVar(&database, "database", "", "schema of the table")
	f.StringVar(&table, "table", "", "table that is migrated")
	cmd.Flags().AddFlagSet(f)
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return usage(cmd, []group{{"Flags", f}}) })
	return cmd
}
