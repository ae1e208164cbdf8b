package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OutEnv names the environment variable that holds the suite's directory.
const OutEnv = "ROWPROOF_OUT"

// SuiteDir makes the directory that holds all runs of one suite and returns
// its absolute path: the one that OutEnv names, or else a new
// reports/out/<time> under the module's root, which reports/out/latest then
// points to.
func SuiteDir(moduleRoot string, now time.Time) (string, error) {
	if dir := os.Getenv(OutEnv); dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("make suite directory: %w", err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("make suite directory: %w", err)
		}
		return dir, nil
	}
	out := filepath.Join(moduleRoot, "reports", "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", fmt.Errorf("make suite directory: %w", err)
	}
	dir, err := mkdirFree(func(n int) string {
		name := now.UTC().Format("20060102T150405Z")
		if n > 1 { // two suites began within one second
			name += "-" + strconv.Itoa(n)
		}
		return filepath.Join(out, name)
	})
	if err != nil {
		return "", fmt.Errorf("make suite directory: %w", err)
	}
	return dir, linkLatest(out, filepath.Base(dir))
}

// linkLatest lets out/latest point to name. The rename makes the change
// atomic, so a reader never finds the link missing.
func linkLatest(out, name string) error {
	tmp := filepath.Join(out, ".latest-"+name)
	if err := os.Symlink(name, tmp); err != nil {
		return fmt.Errorf("link latest suite: %w", err)
	}
	if err := os.Rename(tmp, filepath.Join(out, "latest")); err != nil {
		return errors.Join(fmt.Errorf("link latest suite: %w", err), os.Remove(tmp))
	}
	return nil
}

// NewRunDir makes the next free run directory of a scenario and a subject,
// suite/<scenario>/<subject>[-verify]/<n>, and returns it. n counts from 1.
func NewRunDir(suite, scenario, subject string, verify bool) (string, error) {
	name := strings.NewReplacer(":", "-", "/", "-").Replace(subject)
	if verify {
		name += "-verify"
	}
	parent := filepath.Join(suite, scenario, name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("make run directory: %w", err)
	}
	dir, err := mkdirFree(func(n int) string { return filepath.Join(parent, strconv.Itoa(n)) })
	if err != nil {
		return "", fmt.Errorf("make run directory: %w", err)
	}
	return dir, nil
}

// mkdirFree makes the first directory path(1), path(2), … that does not
// exist. Two processes that race for it get two directories.
func mkdirFree(path func(n int) string) (string, error) {
	for n := 1; ; n++ {
		err := os.Mkdir(path(n), 0o755)
		if err == nil {
			return path(n), nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// RunDirs returns the run directories under dir, which may be a suite, a part
// of one, or a run directory itself. The order is that of their paths, with
// run 2 before run 10.
func RunDirs(dir string) ([]string, error) {
	root, err := filepath.EvalSymlinks(dir) // WalkDir does not follow "latest"
	if err != nil {
		return nil, fmt.Errorf("find run directories: %w", err)
	}
	var dirs []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == RunFile {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find run directories: %w", err)
	}
	slices.SortFunc(dirs, compareRunDirs)
	return dirs, nil
}

func compareRunDirs(a, b string) int {
	if c := strings.Compare(filepath.Dir(a), filepath.Dir(b)); c != 0 {
		return c
	}
	na, errA := strconv.Atoi(filepath.Base(a))
	nb, errB := strconv.Atoi(filepath.Base(b))
	if errA != nil || errB != nil {
		return strings.Compare(a, b)
	}
	return na - nb
}
