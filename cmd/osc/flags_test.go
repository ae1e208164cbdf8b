package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every flag stands in the page for people who switch.
func TestFlagsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/switching.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range new(options).groups() {
		g.flags.VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(string(page), "`--"+f.Name) {
				t.Errorf("docs/switching.md does not name --%s: say there what it stands for", f.Name)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"status", `osc: unknown command "status"; see osc --help`},
		{"ctl", "osc: the command is missing; see osc ctl --help"},
		{"ctl status", "osc: name the migration: --socket, or --database and --table"},
		{"ctl --sock x status", "osc: unknown flag: --sock; see osc --help"},
		{"--max-load=Threads_running", `osc: invalid argument "Threads_running" for "--max-load" flag: "Threads_running": want STATUS_VARIABLE=NUMBER`},
		{"--max-lag-millis=0", "osc: --max-lag-millis=0: want a positive number"},
		{"--exponential-backoff-max-interval=0", "osc: --exponential-backoff-max-interval=0: want 1 or more"},
		{"--database=d --table=t --alter=FORCE --nice-ratio=-1", "osc: --nice-ratio=-1: want 0 to 100"},
		{"--database=d --table=t --alter=FORCE --throttle-control-replicas=db2:x", "osc: --throttle-control-replicas=db2:x: want HOST or HOST:PORT"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr strings.Builder
			got := run(t.Context(), strings.Fields(c.args), &stdout, &stderr)
			if text := stderr.String(); got != 2 || !strings.HasPrefix(text, c.says) || strings.Count(text, "\n") != 1 {
				t.Errorf("got %d, %q, want 2 and one line that starts with %q", got, text, c.says)
			}
		})
	}
}
