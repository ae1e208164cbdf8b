package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rowproof/harness"
	"rowproof/harness/subject"
)

// FilesEnv names the environment variable that holds the bug reports to run,
// one a line.
const FilesEnv = "ROWPROOF_FILES"

// Run runs each bug report that the environment names, or those that match
// otherwise if it names none.
func Run(t *testing.T, suite *harness.Suite, otherwise string) {
	t.Helper()
	paths := strings.FieldsFunc(os.Getenv(FilesEnv), func(c rune) bool { return c == '\n' })
	if _, asked := os.LookupEnv(FilesEnv); !asked {
		var err error
		if paths, err = filepath.Glob(otherwise); err != nil || len(paths) == 0 {
			t.Fatalf("find bug reports in %s: %d found, %v", otherwise, len(paths), err)
		}
	}
	root, err := subject.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := subject.Mutants(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(ID(path), func(t *testing.T) {
			report, err := Read(path, mutants)
			if err != nil {
				t.Fatal(err)
			}
			report.Scenario.File = from(root, path)
			suite.Run(t, report.Scenario)
		})
	}
}

// from is a path as it is named in the root of the module, where a run is
// repeated.
func from(root, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if near, err := filepath.Rel(root, abs); err == nil && !strings.HasPrefix(near, "..") {
		return near
	}
	return abs
}
