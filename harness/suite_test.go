package harness_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/topology"
)

// TestScenario is what a suite runs in the tests below.
func TestScenario(t *testing.T) {
	if suite == nil {
		t.Skip("it is for a suite")
	}
	suite.Run(t, harness.Scenario{
		ID: "plain", Bug: "Nothing goes wrong.",
		Table: fixtures.Pair(), Alter: "MODIFY val BIGINT NOT NULL DEFAULT 0",
		Expect: harness.Completed, Guards: check.LostRow, Control: "range-read-trusts-attach",
	})
}

// process is a suite in a process of its own.
type process struct {
	cmd    *exec.Cmd
	events *json.Decoder
	stderr bytes.Buffer
}

func startSuite(t *testing.T, env ...string) *process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(os.Args[0], "-test.run=^TestScenario$"), events: json.NewDecoder(bufio.NewReader(r))}
	p.cmd.Env = append(os.Environ(), suiteVariable+"=1", history.EventsEnv+"=3", history.OutEnv+"="+t.TempDir(),
		harness.SubjectEnv+"=osc")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = []*os.File{w}
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // an error means that it has ended
		_ = p.cmd.Wait()
		r.Close()
	})
	return p
}

// next returns the next event that is of one of these kinds; false at the end.
func (p *process) next(kinds ...history.EventKind) (history.Event, bool) {
	for {
		var e history.Event
		if err := p.events.Decode(&e); err != nil {
			return e, false
		}
		for _, kind := range kinds {
			if e.Kind == kind {
				return e, true
			}
		}
	}
}

// most returns how many runs went on at once at most, and how many there were.
func (p *process) most() (most, runs int) {
	for now := 0; ; {
		e, ok := p.next(history.EventRunStart, history.EventRunEnd)
		switch {
		case !ok:
			return most, runs
		case e.Kind == history.EventRunStart:
			now++
			runs++
		default:
			now--
		}
		most = max(most, now)
	}
}

func TestSuite(t *testing.T) {
	for name, want := range map[string]struct {
		parallel   string
		most, runs int
	}{
		"OK/OneByOne": {"", 1, 4},
		"OK/Parallel": {"3", 3, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := startSuite(t, harness.RepeatEnv+"=2", harness.ParallelEnv+"="+want.parallel)
			if most, runs := p.most(); most != want.most || runs != want.runs {
				t.Errorf("got %d runs, %d at once, want %d and %d", runs, most, want.runs, want.most)
			}
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("the suite: %v: %s", err, p.stderr.String())
			}
		})
	}

	for name, c := range map[string]struct{ setting, want string }{
		"ErrParallel": {harness.ParallelEnv + "=x", `rowproof: read ROWPROOF_PARALLEL: "x" is no number from 1` + "\n"},
		"ErrRepeat":   {harness.RepeatEnv + "=0", `rowproof: read ROWPROOF_REPEAT: "0" is no number from 1` + "\n"},
		"ErrSubject":  {harness.SubjectEnv + "=mutant:absent", "rowproof: read ROWPROOF_SUBJECT: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := startSuite(t, c.setting)
			if e, ok := p.next(history.EventRunStart); ok {
				t.Errorf("a run began: %+v", e)
			}
			if err := p.cmd.Wait(); err == nil {
				t.Error("the suite ended well")
			}
			if got := p.stderr.String(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("stderr: got %q, want one line like %q", got, c.want)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	p := startSuite(t, harness.KeepEnv+"=1")
	var last history.Event
	for {
		e, ok := p.next(history.EventRunEnd, history.EventKept)
		if !ok {
			t.Fatalf("the suite ended and kept nothing: %s", p.stderr.String())
		}
		if e.Kind == history.EventKept {
			if e.Dir != last.Dir {
				t.Errorf("kept the servers of %s, want those of the last run, %s", e.Dir, last.Dir)
			}
			last = e
			break
		}
		last = e
	}
	server := last.Kept.Servers[0]
	connector, err := mysql.NewConnector(topology.Root().Config(server.Addr, last.Kept.Schema))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	rows := 0
	if err := db.QueryRow("SELECT COUNT(*) FROM pair").Scan(&rows); err != nil || rows != 3 {
		t.Errorf("the table that the run left: got %d rows, %v, want 3", rows, err)
	}
	for _, name := range []string{"root.cnf", "root.env", "app.cnf"} {
		info, err := os.Stat(filepath.Join(last.Kept.Logins, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("login file %s: got %v, %v, want one for its owner alone", name, info, err)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the suite: %v: %s", err, p.stderr.String())
	}
	if err := db.Ping(); err == nil {
		t.Error("the server answers after the signal")
	}
	if _, err := os.Stat(last.Kept.Logins); !os.IsNotExist(err) {
		t.Errorf("login files after the signal: got %v, want them gone", err)
	}
}
