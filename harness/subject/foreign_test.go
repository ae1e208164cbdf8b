package subject_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rowproof/harness/subject"
)

func TestForeign(t *testing.T) {
	t.Run("OK/CommandHasNoPassword", func(t *testing.T) {
		for _, name := range []string{"gh-ost", "spirit"} {
			asked := target
			asked.Extra = []string{"--more=1"}
			c := command(t, foreign(t, name), asked)
			text := strings.Join(append(c.Argv, c.Env...), " ")
			if strings.Contains(text, target.Password) || c.Argv[len(c.Argv)-1] != "--more=1" {
				t.Errorf("%s: arguments %q, want no password, and the further argument last", name, text)
			}
			if want := "password=" + target.Password + "\n"; !strings.Contains(readFile(t, after(t, c.Argv, "--conf")), want) {
				t.Errorf("%s: the option file lacks the password", name)
			}
		}
	})

	t.Run("OK/ChunkAndThreads", func(t *testing.T) {
		sized := target
		sized.Chunk, sized.Threads = 70, 3
		for name, flag := range map[string][2]string{"gh-ost": {"--chunk-size", "70"}, "spirit": {"--threads", "3"}} {
			if got := after(t, command(t, foreign(t, name), sized).Argv, flag[0]); got != flag[1] {
				t.Errorf("%s %s: got %s, want %s", name, flag[0], got, flag[1])
			}
		}
		var chunks []string
		for _, arg := range command(t, foreign(t, "pt-osc"), sized).Argv {
			if strings.HasPrefix(arg, "--chunk-size=") || arg == "--chunk-size" || strings.HasPrefix(arg, "--chunk-time") {
				chunks = append(chunks, arg)
			}
		}
		if want := []string{"--chunk-size=70", "--chunk-time=0"}; !slices.Equal(chunks, want) {
			t.Errorf("pt-osc: got %q, want %q", chunks, want)
		}
	})

	t.Run("OK/RunsShareNoFiles", func(t *testing.T) {
		s := foreign(t, "gh-ost")
		one, two := command(t, s, target), command(t, s, target)
		for _, flag := range []string{"--serve-socket-file", "--throttle-additional-flag-file"} {
			if a, b := after(t, one.Argv, flag), after(t, two.Argv, flag); a == b {
				t.Errorf("%s: both runs have %s", flag, a)
			}
		}
	})

	t.Run("OK/Outcomes", func(t *testing.T) {
		outcome := command(t, foreign(t, "spirit"), target).Outcome
		for status, want := range map[int]string{0: subject.Completed, 1: subject.Aborted, 255: subject.Aborted} {
			if got := outcome(status, "the reason"); got != want {
				t.Errorf("outcome of status %d: got %s, want %s", status, got, want)
			}
		}
		if got := outcome(2, "	/src/main.go:12 +0x1d"); got != subject.NeedsPerson {
			t.Errorf("outcome of a panic: got %s, want %s", got, subject.NeedsPerson)
		}
	})

	versions := map[string]struct{ says, want string }{
		"Number":  {"echo 'spirit v0.16.0-69-ge4b69b6e'", "v0.16.0-69-ge4b69b6e"},
		"Bare":    {"echo 1.1.7; echo more", "1.1.7"},
		"Commit":  {"echo 'unversioned (git commit: 0123456789abcdef0123)'", "0123456789ab"},
		"Nothing": {"exit 3", "sha256:"},
		"Words":   {"echo 'no such flag'", "sha256:"},
	}
	for name, v := range versions {
		t.Run("OK/Version/"+name, func(t *testing.T) {
			s, err := subject.Parse(newBuild(t, "testdata/tiny"), "spirit="+script(t, v.says))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.(subject.Foreign).Version(t.Context())
			if err != nil || got != v.want && !(v.want == "sha256:" && len(got) == len("sha256:")+12) {
				t.Errorf("version: got %q, %v, want %q", got, err, v.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		path := script(t, "exit 0")
		t.Chdir(filepath.Dir(path))
		for name, want := range map[string]string{
			"osc": "osc", "pt-osc": "pt-osc", "gh-ost=./program": "gh-ost=" + path, "spirit=" + path: "spirit=" + path,
		} {
			if got, err := subject.Resolve("testdata/tiny", name); err != nil || got != want {
				t.Errorf("resolve %s: got %q, %v, want %q", name, got, err, want)
			}
		}
	})

	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"gh-ost=" + plain:       "permission denied",
		"gh-ost=" + plain + "0": "no such file",
		"spirit=" + t.TempDir(): "is a directory",
		"spirit=":               "path of the program is missing",
		"gh-ost":                "gh-ost=PATH",
		"pt-osc=/bin/sh":        "pt-osc",
	} {
		t.Run("Err/"+want, func(t *testing.T) {
			got, err := subject.Resolve("testdata/tiny", name)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("resolve %s: got %q, %v, want an error of one line with %q", name, got, err, want)
			}
		})
	}
}

// The tool in its container is run and ended like a process.
func TestBoxed(t *testing.T) {
	s, err := subject.Parse(newBuild(t, "testdata/tiny"), "pt-osc")
	if err != nil {
		t.Fatal(err)
	}

	t.Run("OK/Version", func(t *testing.T) {
		if got, err := s.(subject.Foreign).Version(t.Context()); err != nil || !strings.HasPrefix(got, "3.") {
			t.Errorf("version: got %q, %v, want 3.…", got, err)
		}
	})

	t.Run("OK/TellsWhy", func(t *testing.T) {
		nobody := target
		nobody.Port = 1 // nothing listens there
		log := filepath.Join(t.TempDir(), "log")
		got := run(t, command(t, s, nobody), log).Exit
		if got.Outcome != subject.Aborted || got.Code == 0 || !strings.Contains(got.Message, "connect") {
			t.Errorf("exit: got %+v, want an abort that tells of the connection", got)
		}
		if text := readFile(t, log); !strings.Contains(text, got.Message) || strings.Contains(text, "\x00") {
			t.Errorf("log: got %q, want %q in it and no mark", text, got.Message)
		}
	})

	// What it does at SIGTERM is its own affair, and it has not ended before it
	// is through with that: here once its server hangs up.
	t.Run("OK/Terminates", func(t *testing.T) {
		p, hangUp := startHanging(t, t.Context(), s)
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.Done():
			t.Error("it is said to have ended, and waits for its server")
		default:
		}
		hangUp()
		if got := wait(t, p).Exit; got.Outcome != subject.Aborted || got.Signal != "" {
			t.Errorf("exit: got %+v, want an abort", got)
		}
	})

	t.Run("OK/Signals", func(t *testing.T) {
		p, _ := startHanging(t, t.Context(), s)
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGKILL} {
			if err := p.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		if got := wait(t, p).Exit; got.Outcome != subject.Killed || got.Signal != "SIGKILL" {
			t.Errorf("exit: got %+v, want one by SIGKILL", got)
		}
		if err := p.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: got %v, want %v", err, os.ErrProcessDone)
		}
	})

	t.Run("OK/ContextKills", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, _ := startHanging(t, ctx, s)
		cancel()
		if got := wait(t, p).Exit; got.Signal != "SIGKILL" {
			t.Errorf("exit: got %+v, want one by SIGKILL", got)
		}
	})

	t.Run("OK/TwoAtOnce", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		one, _ := startHanging(t, ctx, s)
		two, _ := startHanging(t, ctx, s)
		cancel()
		for _, p := range []subject.Running{one, two} {
			wait(t, p)
		}
	})
}

// startHanging starts a subject on a server that never greets it.
func startHanging(t *testing.T, ctx context.Context, s subject.Subject) (p subject.Running, hangUp func()) {
	t.Helper()
	listener, reached, hangUp := mute(t)
	asked := target
	asked.Port = listener
	p, err := subject.Start(ctx, command(t, s, asked), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	return p, hangUp
}

func after(t *testing.T, argv []string, flag string) string {
	t.Helper()
	for i, a := range argv {
		if a == flag && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	t.Fatalf("arguments %q lack %s", argv, flag)
	return ""
}
