package script_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rowproof/harness/script"
)

// every.rp uses every kind of thing that a file can hold, and the examples what most do.
func TestGo(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(examples, "*"+script.Extension))
	if err != nil {
		t.Fatal(err)
	}
	// A package of its own inside the module, where the internal imports work.
	dir, err := os.MkdirTemp("testdata", "generated-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}()
	write(t, filepath.Join(dir, "suite_test.go"), "package scenarios_test\n\nimport \"rowproof/harness\"\n\nvar suite *harness.Suite\n")
	for _, path := range append(paths, "testdata/every.rp") {
		name := strings.TrimSuffix(filepath.Base(path), script.Extension)
		t.Run(name, func(t *testing.T) {
			code, err := read(t, path).Go()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+".golden"), code)
			write(t, filepath.Join(dir, strings.ReplaceAll(name, "-", "_")+"_test.go"), string(code))
		})
	}
	t.Run("compiles", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), "go", "vet", "./"+dir).CombinedOutput()
		if err != nil {
			t.Errorf("vet: %v\n%s", err, out)
		}
		out, err = exec.CommandContext(t.Context(), "gofmt", "-l", dir).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("gofmt: %v\n%s", err, out)
		}
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
