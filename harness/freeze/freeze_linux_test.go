package freeze_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rowproof/harness/freeze"
)

// freezerVariable makes the test binary freeze the thread of this number and
// wait to be killed.
const freezerVariable = "FREEZE_THREAD"

func TestMain(m *testing.M) {
	if text := os.Getenv(freezerVariable); text != "" {
		id, _ := strconv.Atoi(text)
		_, err := freeze.Freeze(context.Background(), id, time.Hour)
		fmt.Println("frozen:", err)
		select {}
	}
	goleak.VerifyTestMain(m)
}

// echo is a process that writes what it reads, with one thread.
type echo struct {
	id  int
	cmd *exec.Cmd
	in  io.Writer
	out chan string
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &echo{id: cmd.Process.Pid, cmd: cmd, in: in, out: make(chan string)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			e.out <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	e.say(t, "hello")
	e.answers(t, "hello")
	return e
}

func (e *echo) say(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(e.in, line); err != nil {
		t.Fatal(err)
	}
}

func (e *echo) answers(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-e.out:
		if got != want {
			t.Errorf("answer: got %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Errorf("answer: got none, want %q", want)
	}
}

// isFrozen sends a line and sees that it is not read.
func (e *echo) isFrozen(t *testing.T, line string) {
	t.Helper()
	e.say(t, line)
	select {
	case got := <-e.out:
		t.Errorf("answer of a frozen process: got %q, want none", got)
	case <-time.After(50 * time.Millisecond):
	}
	if got, err := freeze.State(e.id); got != "t" || err != nil {
		t.Errorf("state: got %q, %v; want t", got, err)
	}
}

const patience = 10 * time.Second

// frozen freezes the process, or skips the test where that is not allowed.
func (e *echo) frozen(t *testing.T, ctx context.Context, limit time.Duration) *freeze.Thread {
	t.Helper()
	thread, err := freeze.Freeze(ctx, e.id, limit)
	if err != nil && os.Geteuid() != 0 {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return thread
}

func TestFreeze(t *testing.T) {
	t.Run("OK/StandsStillUntilThawed", func(t *testing.T) {
		e := startEcho(t)
		thread := e.frozen(t, t.Context(), time.Hour)
		e.isFrozen(t, "one")
		for range 2 { // the second is no error
			if err := thread.Thaw(); err != nil {
				t.Error(err)
			}
		}
		e.answers(t, "one")
	})

	t.Run("OK/ThawedByTheEndOfContext", func(t *testing.T) {
		e := startEcho(t)
		ctx, cancel := context.WithCancel(t.Context())
		thread := e.frozen(t, ctx, time.Hour)
		e.isFrozen(t, "one")
		cancel()
		e.answers(t, "one")
		if err := thread.Thaw(); err != nil {
			t.Error(err)
		}
	})

	t.Run("OK/KilledWhileFrozen", func(t *testing.T) {
		e := startEcho(t)
		thread := e.frozen(t, t.Context(), time.Hour)
		if err := e.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-thread.Done():
		case <-time.After(patience):
			t.Fatal("the end of the process was not noticed")
		}
		if err := thread.Thaw(); err != nil {
			t.Error(err)
		}
	})

	t.Run("OK/ThawedByTheEndOfItsOwner", func(t *testing.T) {
		e := startEcho(t)
		e.frozen(t, t.Context(), time.Hour).Thaw() // or skip
		owner := exec.Command(os.Args[0])
		owner.Env = append(os.Environ(), freezerVariable+"="+strconv.Itoa(e.id))
		out, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "frozen: <nil>\n" {
			t.Fatalf("owner: got %q, %v", line, err)
		}
		e.isFrozen(t, "one")
		if err := owner.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = owner.Wait() // it was killed
		e.answers(t, "one")
	})

	t.Run("ErrForgotten", func(t *testing.T) {
		e := startEcho(t)
		thread := e.frozen(t, t.Context(), 100*time.Millisecond)
		e.say(t, "one")
		e.answers(t, "one")
		if err := thread.Thaw(); !errors.Is(err, freeze.ErrThawedByWatchdog) {
			t.Errorf("thaw: got %v, want %v", err, freeze.ErrThawedByWatchdog)
		}
	})

	t.Run("ErrFrozenAlready", func(t *testing.T) {
		e := startEcho(t)
		thread := e.frozen(t, t.Context(), time.Hour)
		if _, err := freeze.Freeze(t.Context(), e.id, time.Hour); err == nil {
			t.Error("freeze again: got no error")
		}
		if err := thread.Thaw(); err != nil {
			t.Error(err)
		}
	})

	t.Run("ErrNoSuchThread", func(t *testing.T) {
		if _, err := freeze.Freeze(t.Context(), 1<<22+1, time.Hour); err == nil {
			t.Error("got no error")
		}
	})
}

func TestHostThread(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		e := startEcho(t)
		if got, err := freeze.HostThread(e.id, e.id); got != e.id || err != nil {
			t.Errorf("got %d, %v; want %d", got, err, e.id)
		}
	})
	t.Run("ErrNoSuchThread", func(t *testing.T) {
		if _, err := freeze.HostThread(os.Getpid(), 1<<22+1); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("ErrNoSuchProcess", func(t *testing.T) {
		if _, err := freeze.HostThread(1<<22+1, 1); err == nil {
			t.Error("got no error")
		}
	})
}
