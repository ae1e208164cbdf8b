package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const reportText = `bug    = "it is gone"
alter  = "ADD COLUMN a INT"
guards = "lost row"
table {
  create = "CREATE TABLE t (id INT PRIMARY KEY)"
}
`

func TestBugReport(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("it.rp", reportText)
	other := file("other.rp", reportText+"control = \"careless\"\n")
	same := file("below/it.rp", reportText)
	bad := file("bad.rp", strings.Replace(reportText, "alter ", "alters", 1))

	t.Run("OK/Run", func(t *testing.T) {
		got := rowproof(t, "run", good, "--out", t.TempDir(), "--subject", "osc")
		if got.status != exitExpected || !strings.Contains(got.out, "it.rp") || !strings.Contains(got.out, "1 run: 1 as expected") {
			t.Errorf("got %+v, want one run of it.rp", got)
		}
	})

	t.Run("OK/Mixed", func(t *testing.T) {
		got := rowproof(t, "run", good, "goo?", other, "--out", t.TempDir(), "--subject", "osc")
		if got.status != exitExpected || !strings.Contains(got.out, "3 runs: 3 as expected") {
			t.Errorf("got %+v, want runs of it.rp, other.rp and good", got)
		}
	})

	t.Run("OK/List", func(t *testing.T) {
		got := rowproof(t, "list", good)
		_, line, _ := strings.Cut(got.out, "\n") // behind the header
		if got.status != exitExpected || !strings.HasPrefix(line, "it.rp ") || strings.Count(line, "\n") != 1 {
			t.Errorf("got %+v, want it.rp alone", got)
		}
	})

	t.Run("OK/Generate", func(t *testing.T) {
		got := rowproof(t, "generate", good)
		if got.status != exitExpected || !strings.Contains(got.out, "func TestIt(t *testing.T)") {
			t.Errorf("got %+v, want a Go test", got)
		}
	})

	for _, command := range []string{"run", "list", "generate"} {
		t.Run("ErrProblems/"+command, func(t *testing.T) {
			got := rowproof(t, command, bad)
			want := bad + ":1:1: alter is missing"
			if got.status != exitUsage || got.out != "" || !strings.HasPrefix(got.err, want) || !strings.Contains(got.err, "rowproof: 2 problems") {
				t.Errorf("got %+v, want status %d and %q first", got, exitUsage, want)
			}
		})
	}

	for name, args := range map[string][]string{
		"Absent":    {"run", filepath.Join(dir, "absent.rp")},
		"OneName":   {"run", good, same},
		"NoControl": {"run", good, "--subject", "control"},
		"NoFile":    {"generate"},
	} {
		t.Run("ErrUsage/"+name, func(t *testing.T) {
			got := rowproof(t, args...)
			if got.status != exitUsage || !strings.HasPrefix(got.err, "rowproof: ") {
				t.Errorf("got %+v, want status %d and a reason", got, exitUsage)
			}
		})
	}
}
