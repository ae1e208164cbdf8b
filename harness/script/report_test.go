package script_test

import (
	"os"
	"path/filepath"
	"testing"

	"rowproof/harness/script"
)

var mutants = []string{"copy-reads-then-writes", "range-read-trusts-attach"}

func TestProbe(t *testing.T) {
	paths, _ := filepath.Glob("../../docs/examples/*.rp")
	for _, p := range paths {
		r, err := script.Read(p, mutants)
		if err != nil {
			t.Error(err)
			continue
		}
		code, err := r.Go()
		if err != nil {
			t.Error(err)
		}
		os.Stdout.Write(code)
	}
}
