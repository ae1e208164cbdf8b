package history_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/history"
)

func TestSuiteDir(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

	t.Run("OK", func(t *testing.T) {
		t.Setenv(history.OutEnv, "")
		root := t.TempDir()
		for _, want := range []string{"20260301T120000Z", "20260301T120000Z-2"} {
			got, err := history.SuiteDir(root, now)
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, "reports", "out", want); got != want {
				t.Errorf("directory: got %s, want %s", got, want)
			}
			if latest, err := os.Readlink(filepath.Join(root, "reports", "out", "latest")); err != nil || latest != want {
				t.Errorf("latest: got %s, %v, want %s", latest, err, want)
			}
		}
	})

	t.Run("OK/FromEnvironment", func(t *testing.T) {
		want := filepath.Join(t.TempDir(), "made", "here")
		t.Setenv(history.OutEnv, want)
		got, err := history.SuiteDir(t.TempDir(), now)
		if err != nil || got != want {
			t.Errorf("directory: got %s, %v, want %s", got, err, want)
		}
		if _, err := os.Stat(want); err != nil {
			t.Error(err)
		}
	})

	t.Run("ErrNoDirectory", func(t *testing.T) {
		t.Setenv(history.OutEnv, "")
		if _, err := history.SuiteDir(file(t), now); err == nil {
			t.Error("directory: got no error")
		}
	})
}

func TestRunDirs(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		suite := t.TempDir()
		for range 11 {
			newRun(t, suite, "osc", false)
		}
		newRun(t, suite, "osc", true)
		newRun(t, suite, "mutant:careless", false)
		if err := os.Symlink(suite, filepath.Join(suite, "latest")); err != nil {
			t.Fatal(err)
		}
		got, err := history.RunDirs(filepath.Join(suite, "latest"))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"s/mutant-careless/1"}
		for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"} {
			want = append(want, "s/osc/"+n)
		}
		want = append(want, "s/osc-verify/1")
		for i := range want {
			want[i] = filepath.Join(suite, want[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/RunItself", func(t *testing.T) {
		dir := newRun(t, t.TempDir(), "osc", false)
		if got, err := history.RunDirs(dir); err != nil || !cmp.Equal(got, []string{dir}) {
			t.Errorf("runs: got %v, %v, want %s", got, err, dir)
		}
	})

	t.Run("ErrAbsent", func(t *testing.T) {
		if _, err := history.RunDirs(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("runs: got %v, want %v", err, fs.ErrNotExist)
		}
	})

	t.Run("ErrNewRunDir", func(t *testing.T) {
		if _, err := history.NewRunDir(file(t), "s", "osc", false); err == nil {
			t.Error("new run directory: got no error")
		}
	})
}

func newRun(t *testing.T, suite, subject string, verify bool) string {
	t.Helper()
	dir, err := history.NewRunDir(suite, "s", subject, verify)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.WriteJSON(filepath.Join(dir, history.RunFile), history.Record{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// file is a path that can't be a directory.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
