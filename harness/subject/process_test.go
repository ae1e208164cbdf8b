package subject_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
	"rowproof/harness/subject"
)

func TestProcess(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "subject.log")
		c := shell(`echo out $NOTE; echo "first line" >&2; printf 'the end\n\n' >&2; exit 7`)
		c.Env = []string{"NOTE=noted"}
		got := run(t, c, log)
		want := history.Exit{Outcome: "status 7", Code: 7, Message: "the end"}
		if diff := cmp.Diff(want, got.Exit); diff != "" {
			t.Errorf("exit (-want +got):\n%s", diff)
		}
		text := readFile(t, log)
		for _, line := range []string{"out noted\n", "first line\n", "the end\n"} {
			if !strings.Contains(text, line) {
				t.Errorf("log %q lacks %q", text, line)
			}
		}
	})

	t.Run("OK/LogIsAppended", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "subject.log")
		run(t, shell("echo one"), log)
		run(t, shell("echo two"), log)
		if got, want := readFile(t, log), "one\ntwo\n"; got != want {
			t.Errorf("log: got %q, want %q", got, want)
		}
	})

	t.Run("OK/Signal", func(t *testing.T) {
		p, log := startReady(t, t.Context(), "echo ready; sleep 600; echo unreachable")
		// What makes it stand still looks there whether it does.
		if process, ok := p.(interface{ Pid() int }); !ok || syscall.Kill(process.Pid(), 0) != nil {
			t.Error("the subject is no process of this machine")
		}
		if err := p.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		got := wait(t, p)
		want := history.Exit{Outcome: subject.Killed, Code: -1, Signal: "SIGKILL"}
		if diff := cmp.Diff(want, got.Exit); diff != "" {
			t.Errorf("exit (-want +got):\n%s", diff)
		}
		expectEOF(t, log)
		if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: got %v, want %v", err, os.ErrProcessDone)
		}
	})

	t.Run("OK/SignalStopAndContinue", func(t *testing.T) {
		p, log := startReady(t, t.Context(), "echo ready; sleep 0.01; exit 3")
		for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		if got, want := wait(t, p).Exit.Code, 3; got != want {
			t.Errorf("exit status: got %d, want %d", got, want)
		}
		expectEOF(t, log)
	})

	t.Run("OK/ContextKillsWholeGroup", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, log := startReady(t, ctx, "sleep 600 & echo ready; wait")
		cancel()
		if got := wait(t, p).Exit; got.Signal != "SIGKILL" {
			t.Errorf("exit: got %+v, want SIGKILL", got)
		}
		expectEOF(t, log) // the background sleep held it open
	})

	t.Run("OK/NothingOfTheGroupIsLeft", func(t *testing.T) {
		p, log := startReady(t, t.Context(), "sleep 600 2>/dev/null & echo ready")
		if got := wait(t, p).Exit; got.Code != 0 {
			t.Errorf("exit: got %+v, want 0", got)
		}
		expectEOF(t, log)
	})

	t.Run("OK/WaitGivesUpAlone", func(t *testing.T) {
		p, _ := startReady(t, t.Context(), "echo ready; sleep 600")
		short, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Wait(short); !errors.Is(err, context.Canceled) {
			t.Errorf("wait: got %v, want %v", err, context.Canceled)
		}
		if err := p.Signal(syscall.SIGKILL); err != nil {
			t.Errorf("the subject should still run: %v", err)
		}
		wait(t, p)
	})

	t.Run("OK/PeakMemoryIsTheSubjects", func(t *testing.T) {
		ballast := make([]byte, 64<<20)
		for i := range ballast {
			ballast[i] = 1
		}
		got := run(t, shell("sleep 0.2"), filepath.Join(t.TempDir(), "log")).PeakRSS
		if got <= 0 || got > 32<<20 {
			t.Errorf("peak memory of a shell: got %d bytes, want some and below 32 MiB (of this test: over %d)", got, len(ballast))
		}
	})

	t.Run("ErrNoProgram", func(t *testing.T) {
		c := subject.Command{Argv: []string{filepath.Join(t.TempDir(), "absent")}}
		_, err := subject.Start(t.Context(), c, filepath.Join(t.TempDir(), "log"))
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("start: got %v, want %v", err, os.ErrNotExist)
		}
	})

	t.Run("ErrNoLog", func(t *testing.T) {
		_, err := subject.Start(t.Context(), shell("true"), filepath.Join(t.TempDir(), "absent", "log"))
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("start: got %v, want %v", err, os.ErrNotExist)
		}
	})
}

func TestCommandIn(t *testing.T) {
	for zone, want := range map[string]string{"Asia/Kathmandu": "+0545", "Etc/GMT+11": "-1100"} {
		t.Run("OK/"+zone, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "subject.log")
			run(t, shell("date +%z").In(zone), log)
			if got := strings.TrimSpace(readFile(t, log)); got != want {
				t.Errorf("offset that the subject sees: got %s, want %s", got, want)
			}
		})
	}
}

// A harness that is killed can't clean up, so the kernel must.
func TestProcessDiesWithHarness(t *testing.T) {
	fifo := makeFIFO(t)
	harness := exec.CommandContext(t.Context(), os.Args[0])
	harness.Env = append(os.Environ(), helperEnv+"="+fifo)
	harness.Stderr = os.Stderr
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	log := openReady(t, fifo)
	if err := harness.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = harness.Wait() // it was killed: that is its error
	expectEOF(t, log)
}

func run(t *testing.T, c subject.Command, log string) subject.Result {
	t.Helper()
	p, err := subject.Start(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	return wait(t, p)
}

func wait(t *testing.T, p subject.Running) subject.Result {
	t.Helper()
	got, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return got
}

// startReady starts a script that prints "ready" and returns once it has. The
// log is a FIFO: it ends when the last process that can write to it does.
func startReady(t *testing.T, ctx context.Context, script string) (subject.Running, *os.File) {
	t.Helper()
	fifo := makeFIFO(t)
	opened := make(chan *os.File)
	go func() { opened <- openReady(t, fifo) }()
	p, err := subject.Start(ctx, shell(script), fifo)
	log := <-opened
	if err != nil {
		t.Fatal(err)
	}
	return p, log
}

func makeFIFO(t *testing.T) string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return fifo
}

func openReady(t *testing.T, fifo string) *os.File {
	log, err := os.Open(fifo)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { _ = log.Close() })
	if line, err := bufio.NewReaderSize(log, 16).ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("first line: got %q, %v", line, err)
	}
	return log
}

// expectEOF waits until nobody can write to the log any more.
func expectEOF(t *testing.T, log *os.File) {
	t.Helper()
	if err := log.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(log); err != nil || len(rest) > 0 {
		t.Errorf("after the end: got %q, %v, want no more output and no writer", rest, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
