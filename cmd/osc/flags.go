package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rowproof/engine"
	"rowproof/engine/throttle"
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
		{"Throttle", o.throttleFlags()},
		{"Cut-over", o.cutOverFlags()},
		{"Resuming", o.checkpointFlags()},
		{"Control and output", o.outputFlags()},
	}
}

func flagSet(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	return f
}

func (o *options) serverFlags() *pflag.FlagSet {
	c, f := &o.cfg.Server, flagSet("server")
	f.StringVar(&c.Host, "host", "127.0.0.1", "`HOST` of the source")
	f.Uint16Var(&c.Port, "port", 3306, "`PORT` of the source")
	f.StringVar(&c.Socket, "socket", "", "unix socket `FILE` of the source, instead of host and port")
	f.StringVar(&c.User, "user", os.Getenv("USER"), "`USER` to connect as")
	f.BoolVar(&o.askPass, "ask-pass", false, "ask for the password")
	f.StringVar(&o.defaultsFile, "defaults-file", "", "MySQL option `FILE` to read the groups [client] and [osc] from")
	f.StringVar((*string)(&c.TLS.Mode), "ssl-mode", "", "encryption `MODE`: disabled, preferred, required, verify-ca or verify-identity\n"+
		"(default preferred, with --ssl-ca verify-ca)")
	f.StringVar(&c.TLS.CA, "ssl-ca", "", "`FILE` of certificates to trust (default: the system's)")
	f.StringVar(&c.TLS.Cert, "ssl-cert", "", "`FILE` of the client's certificate")
	f.StringVar(&c.TLS.Key, "ssl-key", "", "`FILE` of the key of --ssl-cert")
	return f
}

func (o *options) migrationFlags() *pflag.FlagSet {
	c, f := &o.cfg, flagSet("migration")
	f.StringVar(&c.Server.Schema, "database", "", "`SCHEMA` of the table")
	f.StringVar(&c.Table, "table", "", "`TABLE` to migrate")
	f.StringVar(&c.Alter, "alter", "", "the `CHANGES` that follow ALTER TABLE t")
	f.BoolVar(&c.Execute, "execute", false, "do it; without this flag everything is checked and nothing is changed")
	f.BoolVar(&c.AttemptInstant, "attempt-instant-ddl", false, "let the server change the table by ALGORITHM=INSTANT if it can, and copy it only if not")
	f.StringVar((*string)(&c.Verify), "verify", "on", "compare both tables before the cut-over: on or off")
	return f
}

func (o *options) copyFlags() *pflag.FlagSet {
	c, f := &o.cfg.Copy, flagSet("copy")
	f.IntVar(&c.ChunkSize, "chunk-size", 0, "rows copied by one statement, up to 100000; 0 fits it to the time a statement takes")
	f.IntVar(&c.Threads, "threads", 2, "statements that copy at once while nobody writes, 1 to 16; one while somebody does")
	f.StringVar((*string)(&c.DeferIndexes), "defer-secondary-indexes", "auto", "build plain secondary indexes after the copy, in one pass: on, off or auto. "+
		"It is faster, the more there are; but a replica applies nothing else while it builds them, so it lags by that time. auto does it where no replica follows the server")
	f.Lookup("defer-secondary-indexes").NoOptDefVal = "on"
	return f
}

func (o *options) streamFlags() *pflag.FlagSet {
	c, f := &o.cfg.Stream, flagSet("stream")
	f.BoolVar(&c.GTID, "gtid", false, "follow the binary log by GTIDs instead of file and position")
	f.Uint32Var(&c.ServerID, "replica-server-id", 0, "replica id to read the binary log with; 0 picks one")
	return f
}

// throttleFlags: what is applied from the binary log never waits.
func (o *options) throttleFlags() *pflag.FlagSet {
	c, f := &o.cfg.Throttle, flagSet("throttle")
	f.StringVar(&o.replicas, "throttle-control-replicas", "", "`HOST[:PORT],...` of replicas; the copy waits while one of them lags")
	f.IntVar(&o.maxLag, "max-lag-millis", int(throttle.DefaultMaxLag.Milliseconds()), "how far they may lag")
	f.Var(loadValue{&c.MaxLoad}, "max-load", "the copy waits while a status variable is above its limit, such as Threads_running=25")
	f.Var(loadValue{&c.CriticalLoad}, "critical-load", "the migration ends when a status variable is above its limit")
	f.Int64Var(&c.MaxHistory, "max-history-length", 0, "the copy waits while InnoDB's history list is longer; 0 means no limit")
	f.Float64Var(&c.NiceRatio, "nice-ratio", 0, "rest after each chunk by this `RATIO`, as a share of the time that it took: 0.5 rests half as long, 2 twice as long")
	f.StringVar(&o.flagFile, "throttle-flag-file", "", "the copy waits while this `FILE` exists")
	f.StringVar(&o.moreFlagFile, "throttle-additional-flag-file", "", "another such `FILE`, say one for all migrations")
	return f
}

// loadValue is a throttle.Load as a flag.
type loadValue struct{ load *throttle.Load }

func (v loadValue) String() string {
	if v.load == nil {
		return "" // pflag asks a zero value for its text
	}
	return v.load.String()
}

func (v loadValue) Type() string { return "NAME=NUMBER,..." }

func (v loadValue) Set(text string) (err error) {
	*v.load, err = throttle.ParseLoad(text)
	return err
}

// limits takes over the flags that the engine wants in another form.
func (o *options) limits() error {
	if o.maxLag < 1 {
		return &engine.UsageError{Problem: fmt.Sprintf("--max-lag-millis=%d: want a positive number", o.maxLag)}
	}
	if o.maxPause < 1 {
		return &engine.UsageError{Problem: fmt.Sprintf("--exponential-backoff-max-interval=%d: want 1 or more", o.maxPause)}
	}
	c := &o.cfg.Throttle
	c.MaxLag = time.Duration(o.maxLag) * time.Millisecond
	o.cfg.CutOver.MaxPause = time.Duration(o.maxPause) * time.Second
	for _, path := range []string{o.flagFile, o.moreFlagFile} {
		if path != "" {
			c.FlagFiles = append(c.FlagFiles, path)
		}
	}
	for address := range strings.SplitSeq(o.replicas, ",") {
		if address = strings.TrimSpace(address); address != "" {
			c.Replicas = append(c.Replicas, address)
		}
	}
	return nil
}

func (o *options) cutOverFlags() *pflag.FlagSet {
	c, f := &o.cfg.CutOver, flagSet("cut-over")
	f.IntVar(&o.lockWait, "cut-over-lock-timeout-seconds", 3, "for how long one try may keep writers waiting, 1 to 60")
	f.IntVar(&c.Tries, "default-retries", 60, "how often the cut-over is tried")
	f.IntVar(&o.maxPause, "exponential-backoff-max-interval", 30, "longest pause between two tries, in seconds; the first is one second")
	f.StringVar(&c.PostponeFile, "postpone-cut-over-flag-file", "", "don't swap the tables while this `FILE` is there; osc makes it")
	f.BoolVar(&o.cfg.DropOld, "ok-to-drop-table", false, "drop the old table at the end (default: it stays as _TABLE_old)")
	return f
}

func (o *options) checkpointFlags() *pflag.FlagSet {
	c, f := &o.cfg.Checkpoint, flagSet("resuming")
	f.BoolVar(&c.Resume, "resume", false, "go on where an earlier run of the same migration ended; without this flag what it left is removed. "+
		"A run that died always leaves what this needs")
	f.BoolVar(&c.Keep, "checkpoint", false, "leave it also when this run is interrupted (SIGINT, SIGTERM) or fails, instead of "+
		"removing the shadow table; --resume implies it")
	f.Float64Var(&o.checkpointSeconds, "checkpoint-seconds", 5, "time between two notes of the progress, up to 3600")
	return f
}

func (o *options) outputFlags() *pflag.FlagSet {
	f := flagSet("output")
	f.StringVar(&o.cfg.Operator.Socket, "serve-socket-file", "", "unix socket `FILE` to listen on for commands (see osc ctl), or off\n"+
		"(default osc.HOST:PORT.DATABASE.TABLE.sock in the folder for temporary files)")
	f.BoolVar(&o.json, "json", false, "log in JSON lines, and print the summary as one JSON object")
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
