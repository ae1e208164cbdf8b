package reports_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rowproof/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// suite holds hand-written run directories.
const suite = "testdata/suite"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func load(t *testing.T, dirs ...string) []reports.Run {
	t.Helper()
	runs, err := reports.Load(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func plainText(t *testing.T, runs []reports.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := reports.WriteText(reports.Terminal{W: &b}, runs); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// copySuite copies the hand-written runs to a place where they may change.
func copySuite(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "suite")
	if err := os.CopyFS(dir, os.DirFS(suite)); err != nil {
		t.Fatal(err)
	}
	return dir
}
