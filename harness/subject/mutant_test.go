package subject_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/subject"
)

var target = subject.Target{
	Host: "127.0.0.1", Port: 3306, User: "app", Password: "secret",
	Schema: "test", Table: "t", Alter: "ADD COLUMN c INT",
}

func TestEngine(t *testing.T) {
	b := newBuild(t, "testdata/tiny")

	t.Run("OK", func(t *testing.T) {
		s := subject.Engine(b)
		if got, want := s.Name(), "osc"; got != want {
			t.Errorf("name: got %q, want %q", got, want)
		}
		c := command(t, s, target)
		want := []string{"--host", "127.0.0.1", "--port", "3306", "--user", "app", "--database", "test",
			"--table", "t", "--alter", "ADD COLUMN c INT", "--execute", "--serve-socket-file", "off", "--verify=off"}
		if diff := cmp.Diff(want, c.Argv[1:]); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
		text := output(t, c)
		for _, line := range []string{"password 6 characters\n", "careful true\n"} {
			if !strings.Contains(text, line) {
				t.Errorf("output %q lacks %q", text, line)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("output %q holds the password", text)
		}
	})

	t.Run("OK/ChunkAndThreads", func(t *testing.T) {
		sized := target
		sized.Chunk, sized.Threads = 7, 3
		got := command(t, subject.Engine(b), sized).Argv
		want := append(command(t, subject.Engine(b), target).Argv, "--chunk-size", "7", "--threads", "3")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/VerifyAndExtra", func(t *testing.T) {
		verified := target
		verified.Verify = true
		verified.Extra = []string{"--chunk-size=10"}
		argv := command(t, subject.Engine(b), verified).Argv
		if slices.Contains(argv, "--verify=off") || argv[len(argv)-1] != "--chunk-size=10" {
			t.Errorf("arguments: got %q", argv)
		}
	})

	t.Run("OK/Outcomes", func(t *testing.T) {
		outcome := command(t, subject.Engine(b), target).Outcome
		want := map[int]string{
			0: subject.Completed, 1: subject.Aborted, 2: subject.Refused, 3: subject.Refused,
			4: subject.NeedsPerson, 137: subject.NeedsPerson,
		}
		got := map[int]string{}
		for status := range want {
			got[status] = outcome(status, "osc: the reason")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("outcomes (-want +got):\n%s", diff)
		}
		if got := outcome(2, "/src/engine/run.go:12 +0x1d"); got != subject.NeedsPerson {
			t.Errorf("outcome of a panic: got %s, want %s", got, subject.NeedsPerson)
		}
	})
}

func TestMutant(t *testing.T) {
	b := newBuild(t, "testdata/tiny")

	for _, name := range []string{"careless", "moved"} {
		t.Run("OK/"+name, func(t *testing.T) {
			s := subject.Mutant(b, name)
			if got, want := s.Name(), "mutant:"+name; got != want {
				t.Errorf("name: got %q, want %q", got, want)
			}
			if text := output(t, command(t, s, target)); !strings.Contains(text, "careful false\n") {
				t.Errorf("output %q: the bug is not in it", text)
			}
		})
	}

	t.Run("OK/EngineIsUntouched", func(t *testing.T) {
		if text := output(t, command(t, subject.Engine(b), target)); !strings.Contains(text, "careful true\n") {
			t.Errorf("output %q: the bug is in the engine itself", text)
		}
	})

	t.Run("OK/Bug", func(t *testing.T) {
		got, err := subject.MutantBug("testdata/tiny", "careless")
		if want := "Bug: the second check is left out."; err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("bug: got %q, %v, want it to begin with %q", got, err, want)
		}
	})

	errs := map[string][]string{
		"outdated": {"mutant outdated", "engine/engine.go", "hunk 2 of 2", "@@ -12,3 +12,3 @@"},
		"broken":   {"mutant broken", "undefined: nothing"},
		"mute":     {"mutant mute", "comment that tells the bug"},
		"absent":   {"mutant absent", "broken, careless, moved, mute, outdated"},
	}
	for name, want := range errs {
		t.Run("Err/"+name, func(t *testing.T) {
			_, err := subject.Mutant(b, name).Command(t.Context(), target)
			if err == nil {
				t.Fatal("command: got no error")
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	b := newBuild(t, "testdata/tiny")
	for _, name := range []string{"osc", "mutant:careless"} {
		t.Run("OK/"+name, func(t *testing.T) {
			s, err := subject.Parse(b, name)
			if err != nil || s.Name() != name {
				t.Errorf("parse: got %v, %v, want %s", s, err, name)
			}
		})
	}
	for _, name := range []string{"", "mutant:absent", "careless"} {
		t.Run("Err/"+name, func(t *testing.T) {
			if s, err := subject.Parse(b, name); err == nil {
				t.Errorf("parse: got %v, want an error", s.Name())
			}
		})
	}
}

func TestModuleRoot(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		want, err := filepath.Abs("testdata/tiny")
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir("testdata/tiny/cmd/osc")
		if got, err := subject.ModuleRoot(); err != nil || got != want {
			t.Errorf("root: got %q, %v, want %q", got, err, want)
		}
	})
	t.Run("ErrOutside", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if got, err := subject.ModuleRoot(); err == nil {
			t.Errorf("root: got %q, want an error", got)
		}
	})
}

// Every mutant of the engine must still apply and build: a control that can't
// be built proves nothing.
func TestMutantsOfTheEngine(t *testing.T) {
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	names, err := subject.Mutants(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("%s holds no mutant: no scenario has a control", root)
	}
	b := newBuild(t, root)
	for _, name := range names {
		t.Run("OK/"+name, func(t *testing.T) { command(t, subject.Mutant(b, name), target) })
	}
}

func newBuild(t *testing.T, root string) *subject.Build {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	b, err := subject.NewBuild(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func command(t *testing.T, s subject.Subject, target subject.Target) subject.Command {
	t.Helper()
	c, err := s.Command(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func output(t *testing.T, c subject.Command) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	run(t, c, log)
	return readFile(t, log)
}
