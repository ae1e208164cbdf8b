package main

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/harness/topology"
)

// running is an osc that a test steers while it migrates the table t.
type running struct {
	socket         string
	stdout, stderr *capture
	outcome        chan engine.Outcome
}

// capture is a buffer that can be read while it is written.
type capture struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *capture) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *capture) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// begin starts osc on a server.
func begin(t *testing.T, server *topology.Server, flags ...string) *running {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MYSQL_PWD", topology.Migrator().Password)
	r := &running{
		socket: filepath.Join(t.TempDir(), "sock"), stdout: &capture{}, stderr: &capture{},
		outcome: make(chan engine.Outcome, 1),
	}
	args := append([]string{"--host=" + host, "--port=" + port, "--user=" + topology.Migrator().User, "--database=" + topology.Database,
		"--table=t", "--alter=MODIFY v BIGINT", "--execute", "--serve-socket-file=" + r.socket}, flags...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.outcome <- run(t.Context(), args, r.stdout, r.stderr)
	}()
	t.Cleanup(func() { <-ended }) // the test's context has ended it
	return r
}

// ctl sends a command by osc ctl.
func (r *running) ctl(t testing.TB, words ...string) (engine.Outcome, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	outcome := run(t.Context(), append([]string{"ctl", "--socket=" + r.socket}, words...), &stdout, &stderr)
	return outcome, stdout.String() + stderr.String()
}

// until waits until the status says something.
func (r *running) until(t testing.TB, says string) string {
	t.Helper()
	var text string
	wait(t, "the status to say "+says, func() bool {
		_, text = r.ctl(t, "status")
		return strings.Contains(text, says)
	})
	return text
}

// ends waits until osc has ended, and checks how.
func (r *running) ends(t *testing.T, want engine.Outcome) {
	t.Helper()
	select {
	case got := <-r.outcome:
		if got != want {
			t.Fatalf("exit status: got %d, want %d\n%s", got, want, r.stderr)
		}
	case <-time.After(time.Minute):
		t.Fatalf("osc has not ended after a minute\n%s", r.stderr)
	}
}

// wait polls what can't be waited for otherwise.
func wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		if done() {
			return
		}
	}
	t.Fatalf("waited a minute for %s", what)
}

// fill makes the table t with rows 1 to n.
func fill(t *testing.T, server *topology.Server, n int) {
	t.Helper()
	const schema = topology.Database
	execute(t, server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v INT)")
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d)", i+1, i)
	}
	execute(t, server.DB, "INSERT INTO "+schema+".t VALUES "+strings.Join(rows, ", "))
}
