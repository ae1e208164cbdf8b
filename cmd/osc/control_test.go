package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/harness/topology"
)

// touch makes a file for a flag.
func touch(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flag")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A flag file and the operator hold the copy back, each by itself. What
// changes meanwhile is applied.
func TestPauseAndResume(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	fill(t, server, 1000)
	flag := touch(t)
	r := begin(t, server, "--throttle-flag-file="+flag, "--chunk-size=10")
	r.until(t, "waits:     the file "+flag+" exists")
	for command, says := range map[string]string{
		"help": "set NAME VALUE", "pause": "paused", "set chunk-size 100": "chunk-size is 100", "set nice-ratio 0.1": "nice-ratio is 0.1",
	} {
		if outcome, text := r.ctl(t, strings.Fields(command)...); outcome != engine.Completed || !strings.Contains(text, says) {
			t.Errorf("%s: got %d, %q, want 0 and %q", command, outcome, text, says)
		}
	}
	for command, says := range map[string]string{
		"fly":                    `osc ctl: unknown command "fly"`,
		"set":                    "osc ctl: set: want set NAME VALUE",
		"set speed 9":            `osc ctl: set: unknown setting "speed"`,
		"set max-load Flights=9": "there is no status variable Flights",
		"set max-lag-millis 0":   "want a positive number",
		"set chunk-size -1":      "chunk-size=-1: want 1 to 100000 rows, or 0",
	} {
		args := append([]string{"--"}, strings.Fields(command)...)
		if outcome, text := r.ctl(t, args...); outcome != engine.Aborted || !strings.Contains(text, says) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: got %d, %q, want 1 and one line with %q", command, outcome, text, says)
		}
	}
	remove(t, flag)
	r.until(t, "waits:     paused by the operator")
	execute(t, server.DB, "UPDATE "+topology.Database+".t SET v = -1 WHERE id <= 7")
	wait(t, "the changes to be applied", func() bool { return count(t, server, "_t_new") == 7 })
	if status := r.until(t, "paused by the operator"); !strings.Contains(status, "rows:      0 of ") {
		t.Errorf("status: got %q, want no row copied", status)
	}
	if got := count(t, server, "_t_new"); got != 7 {
		t.Errorf("rows in the shadow: got %d, want the 7 changed ones alone", got)
	}
	if _, text := r.ctl(t, "resume"); !strings.HasPrefix(text, "resumed") {
		t.Errorf("resume: got %q, want it done", text)
	}
	r.ends(t, engine.Completed)
	if got := count(t, server, "t"); got != 1000 {
		t.Errorf("rows: got %d, want 1000", got)
	}
	if _, err := os.Stat(r.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if outcome, text := r.ctl(t, "status"); outcome != engine.Aborted || !strings.Contains(text, "no migration listens there") {
		t.Errorf("status afterwards: got %d, %q, want 1 and that nobody listens", outcome, text)
	}
}

func TestOperatorAborts(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	fill(t, server, 10)
	before := sum(t, server)
	r := begin(t, server, "--throttle-additional-flag-file="+touch(t))
	r.until(t, "waits:")
	if outcome, text := r.ctl(t, "abort"); outcome != engine.Completed || text != "aborting\n" {
		t.Errorf("abort: got %d, %q, want 0 and aborting", outcome, text)
	}
	r.ends(t, engine.Aborted)
	if want := "osc: aborted, the original is intact: aborted by the operator\n"; !strings.HasSuffix(r.stderr.String(), want) {
		t.Errorf("stderr: got %q, want its last line to be %q", r.stderr, want)
	}
	if after := sum(t, server); after != before {
		t.Errorf("the original changed: before %s, after %s", before, after)
	}
	if left := tables(t, server); left != "t" {
		t.Errorf("tables: got %s, want t alone", left)
	}
}

// While the cut-over is postponed, changes come through. It goes on when the
// flag file is removed, or when the operator says so.
func TestPostponedCutOver(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	for name, release := range map[string]func(*testing.T, *running, string){
		"file removed": func(t *testing.T, _ *running, flag string) { remove(t, flag) },
		"command": func(t *testing.T, r *running, _ string) {
			if _, text := r.ctl(t, "cut-over"); text != "cutting over\n" {
				t.Errorf("cut-over: got %q", text)
			}
		},
		"command after a pause": func(t *testing.T, r *running, _ string) {
			r.ctl(t, "pause")
			r.ctl(t, "cut-over")
			r.until(t, "phase:     cutting over")
			if left := tables(t, server); left != "_t_new,_t_osc,t" {
				t.Errorf("tables while paused: got %s, want them not swapped", left)
			}
			r.ctl(t, "resume")
		},
	} {
		t.Run(name, func(t *testing.T) {
			fill(t, server, 10)
			flag := filepath.Join(t.TempDir(), "postpone") // osc makes it
			r := begin(t, server, "--postpone-cut-over-flag-file="+flag)
			r.until(t, "postponed: until "+flag+" is removed or the command cut-over comes")
			execute(t, server.DB, "INSERT INTO "+topology.Database+".t VALUES (11, 11)")
			wait(t, "the change to be applied", func() bool { return count(t, server, "_t_new") == 11 })
			release(t, r, flag)
			r.ends(t, engine.Completed)
			if got := count(t, server, "t"); got != 11 {
				t.Errorf("rows: got %d, want 11", got)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	t.Run("max", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--max-load=Threads_running=0")
		r.until(t, "Threads_running is ")
		if got := count(t, server, "_t_new"); got != 0 {
			t.Errorf("rows in the shadow: got %d, want 0", got)
		}
		if outcome, text := r.ctl(t, "set", "max-load", "Threads_running=1000"); outcome != engine.Completed {
			t.Errorf("set: got %d, %q", outcome, text)
		}
		r.ends(t, engine.Completed)
	})
	t.Run("critical", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--critical-load=Threads_running=0", "--throttle-flag-file="+touch(t))
		r.ends(t, engine.Aborted)
		if got := r.stderr.String(); !strings.Contains(got, "osc: aborted, the original is intact: critical load: Threads_running is ") {
			t.Errorf("stderr: got %q, want it to name the critical load", got)
		}
	})
	t.Run("history", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--throttle-flag-file="+touch(t))
		r.until(t, "waits:")
		r.ctl(t, "set", "max-history-length", "100000000")
		r.ctl(t, "abort")
		r.ends(t, engine.Aborted)
	})
	t.Run("unknown variable", func(t *testing.T) {
		fill(t, server, 10)
		r := begin(t, server, "--max-load=Flights=9")
		r.ends(t, engine.Usage)
		if got, want := r.stderr.String(), "there is no status variable Flights\n"; !strings.HasSuffix(got, want) {
			t.Errorf("stderr: got %q, want it to end with %q", got, want)
		}
	})
}

// A long transaction on the table holds up the cut-over. No try keeps writers
// waiting for longer than it may, and between tries they have the table to
// themselves.
func TestCutOverBacksOff(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	fill(t, server, 10)
	long, err := server.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if _, err := long.ExecContext(t.Context(), "SELECT * FROM "+topology.Database+".t"); err != nil {
		t.Fatal(err)
	}
	r := begin(t, server, "--cut-over-lock-timeout-seconds=1", "--exponential-backoff-max-interval=600")
	var worst time.Duration
	wait(t, "the third try to fail", func() bool {
		began := time.Now()
		execute(t, server.DB, "UPDATE "+topology.Database+".t SET v = v + 1 WHERE id = 1")
		worst = max(worst, time.Since(began))
		return strings.Contains(r.stderr.String(), "try=3")
	})
	if want := 3 * time.Second; worst > want {
		t.Errorf("a writer waited %v, want about a second, and no more than %v", worst, want)
	}
	if err := long.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, text := r.ctl(t, "cut-over"); text != "the cut-over will not be postponed\n" {
		t.Errorf("cut-over: got %q", text)
	}
	r.ends(t, engine.Completed)
}

// A replica whose SQL thread stands still holds the copy back until it has
// caught up.
func TestReplicaLag(t *testing.T) {
	cluster, err := topology.Start(t.Context(), topology.Spec{GTID: true, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	server, replica := cluster.Source(), cluster.Replicas()[0]
	fill(t, server, 100)
	// The replica connects as migrator, to its own copy of the schema.
	if err := cluster.WaitReplicated(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := replica.StopSQL(t.Context()); err != nil {
		t.Fatal(err)
	}
	flag := filepath.Join(t.TempDir(), "postpone")
	r := begin(t, server, "--throttle-control-replicas="+replica.Addr, "--max-lag-millis=1000", "--postpone-cut-over-flag-file="+flag)
	r.until(t, "waits:     the replica "+replica.Addr+" has not received a heartbeat")
	if got := count(t, server, "_t_new"); got != 0 {
		t.Errorf("rows in the shadow: got %d, want 0", got)
	}
	if err := replica.StartSQL(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.until(t, "phase:     postponed")
	if err := replica.StopSQL(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.until(t, "waits:     the replica "+replica.Addr+" is ")
	remove(t, flag)
	r.until(t, "phase:     cutting over")
	if left := tables(t, server); left != "_t_new,_t_osc,t" {
		t.Errorf("tables while the replica lags: got %s, want them not swapped", left)
	}
	if err := replica.StartSQL(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.ends(t, engine.Completed)

	t.Run("the source is no replica", func(t *testing.T) {
		fill(t, server, 1)
		r := begin(t, server, "--throttle-control-replicas="+server.Addr)
		r.ends(t, engine.Refused)
		if got := r.stderr.String(); !strings.Contains(got, "it is the source itself") {
			t.Errorf("stderr: got %q", got)
		}
	})
}

// SIGUSR1 prints the status; --json makes every line of the log, and the
// summary, JSON.
func TestSignalAndJSON(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	t.Run("text", func(t *testing.T) {
		fill(t, server, 10)
		flag := touch(t)
		r := begin(t, server, "--throttle-flag-file="+flag)
		r.until(t, "phase:     copying")
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		wait(t, "the status on stderr", func() bool { return strings.Contains(r.stderr.String(), "phase:     copying\n") })
		remove(t, flag)
		r.ends(t, engine.Completed)
	})
	t.Run("json", func(t *testing.T) {
		fill(t, server, 10)
		flag := touch(t)
		r := begin(t, server, "--throttle-flag-file="+flag, "--json", "--verify=off")
		r.until(t, "phase:     copying")
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		wait(t, "the status on stderr", func() bool { return strings.Contains(r.stderr.String(), `"phase":"copying"`) })
		remove(t, flag)
		r.ends(t, engine.Completed)
		for line := range strings.Lines(r.stderr.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("stderr: got %q, want JSON", line)
			}
		}
		var got struct {
			Outcome  string `json:"outcome"`
			Verified *bool  `json:"verified"`
			Rows     int    `json:"rows_copied"`
		}
		if err := json.Unmarshal([]byte(r.stdout.String()), &got); err != nil || got.Outcome != "completed" || got.Verified == nil || *got.Verified || got.Rows != 10 {
			t.Errorf("stdout: got %s (%v), want completed, 10 rows, not verified", r.stdout, err)
		}
	})
	t.Run("json error", func(t *testing.T) {
		r := begin(t, server, "--json", "--table=none")
		r.ends(t, engine.Refused)
		var got struct {
			Outcome string `json:"outcome"`
			Status  int    `json:"exit_status"`
			Error   string `json:"error"`
		}
		if err := json.Unmarshal([]byte(r.stdout.String()), &got); err != nil || got.Outcome != "refused" || got.Status != 3 || got.Error == "" {
			t.Errorf("stdout: got %s (%v), want refused, 3 and why", r.stdout, err)
		}
	})
}

// tables are the names of the schema's tables.
func tables(t *testing.T, server *topology.Server) (names string) {
	t.Helper()
	err := server.DB.QueryRow(fmt.Sprintf("SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s'",
		topology.Database)).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
