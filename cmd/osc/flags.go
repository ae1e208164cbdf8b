package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group is a part of the flags, as the help text shows them.
type group struct {
	title string
	flags *pflag.FlagSet
}

// groups defines all flags. A flag that means the same as one of gh-ost's
// has its name.
func (o *options) groups() []group {
	return []group{
		{"Server", o.serverFlags()},
		{"Migration", o.migrationFlags()},
		{"Copy", o.copyFlags()},
		{"Binary log", o.streamFlags()},
		{"Cut-over", o.cutOverFlags()},
		{"Output", o.outputFlags()},
	}
}

func flagSet(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	return f
}

func (o *options) serverFlags() *pflag.FlagSet {
	c, f := &o.cfg.Server, flagSet("server")
	f.StringVar(&c.Host, "host", "127.0.0.1", "host of the source")
	f.Uint16Var(&c.Port, "port", 3306, "port of the source")
	f.StringVar(&c.Socket, "socket", "", "unix socket of the source, instead of host and port")
	f.StringVar(&c.User, "user", os.Getenv("USER"), "user to connect as")
	f.BoolVar(&o.askPass, "ask-pass", false, "ask for the password")
	return f
}

func (o *options) migrationFlags() *pflag.FlagSet {
	c, f := &o.cfg, flagSet("migration")
	f.StringVar(&c.Server.Schema, "database", "", "schema of the table")
	f.StringVar(&c.Table, "table", "", "table to migrate")
	f.StringVar(&c.Alter, "alter", "", "what follows ALTER TABLE t")
	f.BoolVar(&c.Execute, "execute", false, "do it; without this flag everything is checked and nothing is changed")
	f.StringVar((*string)(&c.Verify), "verify", "on", "compare both tables before the cut-over: on or off")
	return f
}

func (o *options) copyFlags() *pflag.FlagSet {
	c, f := &o.cfg.Copy, flagSet("copy")
	f.IntVar(&c.ChunkSize, "chunk-size", 1000, "rows copied by one statement, up to 100000")
	return f
}

func (o *options) streamFlags() *pflag.FlagSet {
	c, f := &o.cfg.Stream, flagSet("stream")
	f.BoolVar(&c.GTID, "gtid", false, "follow the binary log by GTIDs instead of file and position")
	f.Uint32Var(&c.ServerID, "replica-server-id", 0, "replica id to read the binary log with; 0 picks one")
	return f
}

func (o *options) cutOverFlags() *pflag.FlagSet {
	c, f := &o.cfg.CutOver, flagSet("cut-over")
	f.IntVar(&o.lockWait, "cut-over-lock-timeout-seconds", 3, "for how long one try may keep writers waiting, 1 to 60")
	f.IntVar(&c.Tries, "default-retries", 60, "how often the cut-over is tried")
	f.BoolVar(&o.cfg.DropOld, "ok-to-drop-table", false, "drop the old table at the end (default: it stays as _TABLE_old)")
	return f
}

func (o *options) outputFlags() *pflag.FlagSet {
	f := flagSet("output")
	f.BoolVar(&o.verbose, "verbose", false, "log more")
	return f
}

// usage prints the help behind the description.
func usage(cmd *cobra.Command, groups []group) error {
	out := cmd.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s:\n%s", g.title, g.flags.FlagUsages())
	}
	_, err := fmt.Fprintln(out)
	return err
}
