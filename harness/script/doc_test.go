package script_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/script"
)

const manual = "../../docs/bug-report.md"

// The manual lists what the catalogue has; -update writes that part.
func TestManual(t *testing.T) {
	const begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	got, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks %q or %q", manual, begin, end)
	}
	want := "\n" + script.Reference() + "\n"
	if *update {
		write(t, manual, head+begin+want+end+tail)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reference (-want +got), -update writes it:\n%s", diff)
	}
}

// The manual shows one of the examples whole.
func TestManualExample(t *testing.T) {
	data, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join(examples, "seam-after-sync.rp"))
	if err != nil {
		t.Fatal(err)
	}
	if _, text, _ := strings.Cut(string(example), "\n\n"); !strings.Contains(string(data), text) {
		t.Error("the manual does not show seam-after-sync.rp as it is")
	}
}
