package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The report comes first, then the way in; a signal ends it, and the exit
// status is still the verdict's.
func TestKeep(t *testing.T) {
	for name, signal := range map[string]os.Signal{"OK/Interrupt": syscall.SIGINT, "OK/Terminate": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			self, err := filepath.Abs(os.Args[0])
			if err != nil {
				t.Fatal(err)
			}
			suite := filepath.Join(t.TempDir(), "suite")
			cmd := exec.CommandContext(t.Context(), self, "run", "kept", "--keep", "--out", suite)
			cmd.Dir = "testdata/module"
			cmd.Env = append(os.Environ(), selfEnv+"=1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var told strings.Builder
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				told.WriteString(lines.Text() + "\n")
				if strings.HasPrefix(lines.Text(), "Without this process:") {
					break
				}
			}
			note := filepath.Join(suite, "kept", "osc", "1", "removed.json")
			if _, err := os.Stat(note); err == nil {
				t.Error("the servers went before the signal")
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("exit: got %v, %s, want 0", err, stderr.String())
			}
			if got := read(t, note); got != "true" {
				t.Errorf("note of the scenarios: got %q", got)
			}
			for _, want := range []string{
				"1 run: 1 as expected",
				"mysql --defaults-file=/tmp/logins/root.cnf -h127.0.0.1 -P20123 shop",
				"docker exec -it --env-file /tmp/logins/root.env 0123456789ab mysql -uroot -S/s.sock shop",
				"docker logs 0123456789ab",
				"docker rm -f 0123456789ab",
			} {
				if !strings.Contains(told.String(), want) {
					t.Errorf("output %q lacks %q", told.String(), want)
				}
			}
		})
	}
}
