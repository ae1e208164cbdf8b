package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
)

func TestExplain(t *testing.T) {
	silent := histories.LostAfterSync()
	silent.Marks, silent.Observed.Binlog = nil, nil
	for _, c := range []struct {
		name   string
		record *history.Record
	}{
		{"lost-after-sync", histories.LostAfterSync()},
		{"stale-after-sync", histories.StaleAfterSync()},
		{"stale-copy", histories.StaleCopy()},
		{"resurrected", histories.Resurrected()},
		{"nothing-recorded", silent},
	} {
		t.Run("OK "+c.name, func(t *testing.T) {
			a := check.Judge(c.record).Anomalies()[0]
			golden(t, c.name, a.Text+"\n\n"+a.Explanation+"\n")
		})
	}
}

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("explanation (-want +got):\n%s", d)
	}
}
