package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"rowproof/harness/subject"
	"rowproof/reports"
	"rowproof/reports/html"
	"rowproof/reports/markdown"
)

// render writes all files that show runs: a page and, if it is Invalid, a bug
// report for each, and for all of them those in dir.
func render(dir string, runs []reports.Run) error {
	if err := reports.WriteFiles(dir, runs); err != nil {
		return err
	}
	pages, err := html.NewPages()
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range runs {
		group.Go(func() error {
			return errors.Join(pages.WriteRun(r, filepath.Join(dir, html.SuiteFile)), markdown.WriteBug(r))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	earlier, err := reports.Earlier(dir)
	if err != nil {
		return err
	}
	return pages.WriteSuite(dir, runs, earlier)
}

// What GitHub sets for the steps of a job.
const (
	actionsEnv = "GITHUB_ACTIONS"
	summaryEnv = "GITHUB_STEP_SUMMARY"
)

// tellGitHub annotates the scenarios and writes the job's summary, if this is
// a job there.
func tellGitHub(w io.Writer, runs []reports.Run) error {
	if os.Getenv(actionsEnv) != "true" {
		return nil
	}
	places, err := scenarioPlaces()
	if err != nil {
		return err
	}
	if err := reports.WriteAnnotations(w, runs, places); err != nil {
		return err
	}
	if path := os.Getenv(summaryEnv); path != "" {
		return markdown.AppendSummary(path, runs)
	}
	return nil
}

var scenarioID = regexp.MustCompile(`\bID:\s+"([^"]+)"`)

// scenarioPlaces finds where the scenarios are written; stored runs can be
// shown where there is no source, and then there are none.
func scenarioPlaces() (map[string]reports.Place, error) {
	places := map[string]reports.Place{}
	root, err := subject.ModuleRoot()
	if err != nil {
		return places, nil
	}
	files, err := filepath.Glob(filepath.Join(root, "scenarios", "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := findPlaces(root, file, places); err != nil {
			return nil, err
		}
	}
	return places, nil
}

func findPlaces(root, file string, places map[string]reports.Place) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rel := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if id := scenarioID.FindStringSubmatch(lines.Text()); id != nil {
			places[id[1]] = reports.Place{File: rel, Line: n}
		}
	}
	return lines.Err()
}
