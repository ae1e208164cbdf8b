package control

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func commands() Commands {
	return Commands{
		{Name: "status", Help: "how far it is", Run: func(context.Context, []string) (string, error) { return "half\nway", nil }},
		{Name: "set", Args: []string{"NAME", "VALUE"}, Help: "change it", Run: func(_ context.Context, args []string) (string, error) {
			if args[1] == "bad" {
				return "", errors.New("want something good")
			}
			return strings.Join(args, " is "), nil
		}},
	}
}

// serve serves on a new socket until the test ends.
func serve(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sock")
	s, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, commands()) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, s.Close()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return path
}

func TestCommands(t *testing.T) {
	path := serve(t)
	for _, c := range []struct{ line, want, err string }{
		{line: "status", want: "half\nway"},
		{line: "  status  ", want: "half\nway"},
		{line: "set a 1", want: "a is 1"},
		{line: "set a bad", err: "set: want something good"},
		{line: "set a", err: "set: want set NAME VALUE"},
		{line: "status now", err: "status: want status"},
		{line: "fly", err: `unknown command "fly"; there are help, status, set`},
		{line: "", err: "no command; there are help, status, set"},
		{line: "help", want: "help             this list\nstatus           how far it is\nset NAME VALUE   change it"},
	} {
		t.Run(c.line, func(t *testing.T) {
			got, err := Ask(t.Context(), path, c.line)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != c.want || text != c.err {
				t.Errorf("got %q, error %q; want %q, error %q", got, text, c.want, c.err)
			}
		})
	}
}

// Whoever is connected and says nothing doesn't keep the server from ending.
func TestSilentClient(t *testing.T) {
	conn, err := net.Dial("unix", serve(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the server has ended
		_, _ = io.ReadAll(conn) // it ends, with whatever error
		conn.Close()
	})
	if _, err := io.WriteString(conn, "stat"); err != nil {
		t.Fatal(err)
	}
}

func TestListen(t *testing.T) {
	t.Run("its owner's alone", func(t *testing.T) {
		info, err := os.Stat(serve(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("mode: got %o, want 600", got)
		}
	})
	t.Run("stale", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "sock")
		old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		old.SetUnlinkOnClose(false)
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("ErrInUse", func(t *testing.T) {
		path := serve(t)
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "somebody answers there") {
			t.Errorf("got %v, want an error that somebody answers there", err)
		}
		if got, err := Ask(t.Context(), path, "status"); err != nil || got == "" {
			t.Errorf("the first server: got %q, %v, want its status", got, err)
		}
	})
	t.Run("ErrFile", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "no socket") {
			t.Errorf("got %v, want an error that it is no socket", err)
		}
		if text, err := os.ReadFile(path); string(text) != "mine" {
			t.Errorf("the file: got %q, %v, want it untouched", text, err)
		}
	})
}

func TestAskNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if _, err := Ask(t.Context(), path, "status"); err == nil || !strings.Contains(err.Error(), "no migration listens there") {
		t.Errorf("got %v, want an error that no migration listens there", err)
	}
}

func TestDefaultPath(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	if got, want := DefaultPath("db1:3306", "shop", "or/ders"), "/tmp/osc.db1:3306.shop.or_ders.sock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := strings.Repeat("x", 64)
	a, b := DefaultPath("db1:3306", long, long), DefaultPath("db2:3306", long, long)
	if len(a) > maxPath || a == b {
		t.Errorf("got %s and %s, want two short paths", a, b)
	}
}
