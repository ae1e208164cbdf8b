package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"rowproof/harness/topology"
)

func TestDoctor(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		if _, err := topology.EnsureImage(t.Context(), t.Output()); err != nil {
			t.Fatal(err) // without it no server is started
		}
		got := rowproofHere(t, "doctor")
		if got.status != exitExpected {
			t.Fatalf("got %+v, want status 0", got)
		}
		for _, name := range []string{"go", "engine", "image", "server", "freeze", "memory", "disk", "ports", "leftovers"} {
			if !strings.Contains(got.out, " "+name+" ") {
				t.Errorf("output %q lacks %s", got.out, name)
			}
		}
		for line := range strings.Lines(got.out) {
			if word, _, _ := strings.Cut(line, " "); word != answerOK && word != answerNote {
				t.Errorf("line %q: want an answer first", line)
			}
		}
	})

	t.Run("OK/JSON", func(t *testing.T) {
		got := rowproofHere(t, "doctor", "--json")
		var report struct {
			OK     bool
			Checks []answer
		}
		if err := json.Unmarshal([]byte(got.out), &report); err != nil {
			t.Fatalf("output %q: %v", got.out, err)
		}
		if !report.OK || len(report.Checks) < 7 || report.Checks[0].Name != "go" || report.Checks[0].Answer != answerOK {
			t.Errorf("report: got %+v", report)
		}
	})

	t.Run("ErrNoEngine", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "unix:///no/such/engine.sock")
		got := rowproofHere(t, "doctor")
		if got.status != exitEnvironment || !strings.Contains(got.out, "missing  engine") || got.err != "" {
			t.Errorf("got %+v, want status %d and a line about the engine", got, exitEnvironment)
		}
	})

	t.Run("ErrNoGo", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		t.Setenv("DOCKER_HOST", "unix:///no/such/engine.sock")
		got := rowproofHere(t, "doctor")
		if got.status != exitEnvironment || !strings.HasPrefix(got.out, "missing  go ") {
			t.Errorf("got %+v, want status %d and a line about Go", got, exitEnvironment)
		}
	})

	t.Run("ErrArgument", func(t *testing.T) {
		if got := rowproofHere(t, "doctor", "docker"); got.status != exitUsage {
			t.Errorf("got %+v, want status %d", got, exitUsage)
		}
	})
}

func TestFreezable(t *testing.T) {
	c, err := topology.Start(t.Context(), topology.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	state, err := topology.ExamineEngine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = freezable(t.Context(), c.Source())
	if state.Local && os.Geteuid() == 0 && err != nil {
		t.Errorf("got %v, and this is root on the engine's machine", err)
	}
	t.Logf("freezable = %v", err)
	if err := c.Source().Ping(t.Context()); err != nil { // it goes on
		t.Error(err)
	}
}

func TestExamineLeftover(t *testing.T) {
	dead := topology.Leftover{Kind: "container", ID: "0123456789abcdef", Why: "its owner is gone"}
	unknown := topology.Leftover{Kind: "container", ID: "0123456789abcdef", Why: "who knows", Kept: true}
	for name, c := range map[string]struct {
		left    topology.Leftover
		clean   bool
		failure error
		want    answer
		removed int
	}{
		"OK/Named":   {left: dead, want: answer{"leftovers", answerNote, "container 0123456789ab: its owner is gone", "rowproof doctor --clean removes it"}},
		"OK/Removed": {left: dead, clean: true, removed: 1, want: answer{"leftovers", answerOK, "removed container 0123456789ab: its owner is gone", ""}},
		"OK/Kept": {left: unknown, clean: true,
			want: answer{"leftovers", answerNote, "container 0123456789ab: who knows", "if you know it to be over, docker rm -f 0123456789ab"}},
		"ErrRemove": {left: dead, clean: true, removed: 1, failure: errors.New("it is in use"),
			want: answer{"leftovers", answerNote, "container 0123456789ab: its owner is gone", "it is in use"}},
	} {
		t.Run(name, func(t *testing.T) {
			removed := 0
			got := examineLeftover(t.Context(), c.left, c.clean, func(_ context.Context, l topology.Leftover) error {
				removed++
				return c.failure
			})
			if got != c.want || removed != c.removed {
				t.Errorf("got %+v, %d removed, want %+v, %d", got, removed, c.want, c.removed)
			}
		})
	}
}

func TestSized(t *testing.T) {
	if got := sized("memory", 2<<30, 1<<30, "free"); got.Answer != answerOK {
		t.Errorf("enough: got %+v", got)
	}
	if got := sized("memory", 1<<29, 1<<30, "free"); got.Answer != answerMissing || got.Fix == "" {
		t.Errorf("too little: got %+v, want it missing and what to do", got)
	}
}
