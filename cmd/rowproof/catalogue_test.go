package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/subject"
	"rowproof/reports/catalogue"
)

// The page of this module's scenarios is what they and the stored findings
// give, and nothing is missing in it.
func TestCatalogue(t *testing.T) {
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	all, err := readCatalogue(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("OK/UpToDate", func(t *testing.T) {
		files, err := all.Files()
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range files {
			if got := read(t, filepath.Join(root, file)); got != string(want) {
				t.Errorf("%s is out of date; write it anew: go run ./cmd/rowproof catalogue\n(-is +should be):\n%s", file, cmp.Diff(got, string(want)))
			}
		}
	})

	t.Run("OK/NothingMissing", func(t *testing.T) {
		mutants, err := subject.Mutants(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, gap := range all.Gaps(mutants) {
			t.Errorf("%s\n%s says how to record a run", gap, catalogue.PageFile)
		}
	})

	t.Run("OK/ReportsOnRuns", func(t *testing.T) {
		var want []string
		for _, f := range all.Known {
			if f.Report != "" {
				want = append(want, f.RunReport())
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, storedReports(t, filepath.Join(root, check.KnownDir))); diff != "" {
			t.Errorf("reports on runs of other tools: -should be there, record the run again; +belongs to no finding, remove it:\n%s", diff)
		}
	})
}

// localDir finds directories of a machine on which a run was made.
var localDir = regexp.MustCompile(`/(tmp|root|home|work|Users|var/folders)/\S*`)

// storedReports returns the reports on runs, which name no directory of the
// machine that made them.
func storedReports(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(dir), "runs", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, path)
		for _, local := range localDir.FindAllString(read(t, filepath.Join(dir, path)), -1) {
			t.Errorf("%s names %s, which is of one machine only", path, local)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The command writes both files, and names what is missing in them.
func TestCatalogueCommand(t *testing.T) {
	module := t.TempDir()
	if err := os.CopyFS(module, os.DirFS("testdata/module")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(module, check.KnownDir), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(module)
	got := rowproofHere(t, "catalogue")
	if got.status != exitExpected || !strings.Contains(got.err, "missing: scenario good: no run of its control is recorded") {
		t.Errorf("got %+v, want status %d and what is missing", got, exitExpected)
	}
	if page := read(t, filepath.Join(module, catalogue.PageFile)); !strings.Contains(page, "the good one goes bad.") {
		t.Errorf("the page does not tell of a scenario:\n%s", page)
	}
	if picture := read(t, filepath.Join(module, catalogue.PictureFile)); !strings.HasPrefix(picture, "<svg ") {
		t.Errorf("the picture begins with %.20q", picture)
	}
}
