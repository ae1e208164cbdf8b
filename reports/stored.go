package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"rowproof/harness/history"
)

// Stored is the results of an earlier suite.
type Stored struct {
	Name    string // of its directory
	Dir     string
	Results Results
}

// mostStored is how many earlier suites are looked at.
const mostStored = 20

// Earlier reads the results of the suites beside dir, oldest first, as far as
// they are of this version. Directories of suites are named by time.
func Earlier(dir string) ([]Stored, error) {
	self, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find earlier suites: %w", err)
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return nil, fmt.Errorf("find earlier suites: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(globLiteral(filepath.Dir(self)), "*", ResultsFile))
	if err != nil {
		return nil, fmt.Errorf("find earlier suites: %w", err)
	}
	slices.Sort(files)
	slices.Reverse(files)
	var all []Stored
	seen := map[string]bool{self: true} // "latest" is one of the others
	for _, file := range files {
		dir, err := filepath.EvalSymlinks(filepath.Dir(file))
		if err != nil || seen[dir] || len(all) == mostStored {
			continue
		}
		seen[dir] = true
		s := Stored{Name: filepath.Base(dir), Dir: dir}
		err = history.ReadJSON(filepath.Join(dir, ResultsFile), &s.Results)
		if errors.Is(err, fs.ErrNotExist) || err == nil && s.Results.Format != ResultsVersion {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.Reverse(all)
	return all, nil
}

// globLiteral is a pattern for a path itself.
func globLiteral(path string) string {
	var b []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			b = append(b, '\\')
		}
		b = append(b, r)
	}
	return string(b)
}

// Suites splits runs by the suites that they are part of, oldest first.
func Suites(runs []Run) []Stored {
	bySuite := map[string][]Run{}
	started := map[string]time.Time{}
	for _, r := range runs {
		dir := suiteOf(r)
		bySuite[dir] = append(bySuite[dir], r)
		if t := started[dir]; t.IsZero() || r.Record.Started.Before(t) {
			started[dir] = r.Record.Started
		}
	}
	var all []Stored
	for dir, runs := range bySuite {
		all = append(all, Stored{Name: filepath.Base(dir), Dir: dir, Results: NewResults(dir, runs)})
	}
	slices.SortFunc(all, func(a, b Stored) int { return started[a.Dir].Compare(started[b.Dir]) })
	return all
}

// suiteOf is the directory of a run's suite: suite/scenario/subject/number.
func suiteOf(r Run) string {
	subject := filepath.Dir(r.Dir)
	if scenario := filepath.Dir(subject); filepath.Base(scenario) == r.Record.Scenario {
		return filepath.Dir(scenario)
	}
	return r.Dir // it was moved
}
