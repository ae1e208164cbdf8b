package check_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		{"passed-before-attach", passedBeforeAttach()},
	} {
		t.Run("OK "+c.name, func(t *testing.T) {
			a := check.Judge(c.record).Anomalies()[0]
			golden(t, c.name, a.Text+"\n\n"+a.Explanation+"\n")
		})
	}
}

// passedBeforeAttach is the first loss in a tool that asks for the stream first
// and begins to listen to it later; it marks the end of its range alone.
func passedBeforeAttach() *history.Record {
	r := histories.LostAfterSync()
	var marks []history.Mark
	for _, m := range r.Marks {
		switch {
		case m.Step == "dump":
			m.At = 50 * time.Millisecond
			marks = append([]history.Mark{m}, marks...)
			continue
		case m.Step == "attach" && m.Name == history.MarkStepReplied:
			m.Data = map[string]string{"rows": `[["def","rowproof"]]`}
		case m.Step == "range-read" && m.Name == history.MarkStepReplied:
			m.Data = map[string]string{"rows": `[["3"]]`}
		}
		marks = append(marks, m)
	}
	r.Marks = append(marks, history.Mark{At: 106 * time.Millisecond, Name: history.MarkStreamEvent, Step: "dump", Data: map[string]string{
		"kind": "rows", "file": "binlog.000002", "pos": "1400", "gtid": r.Observed.Binlog[0].GTID,
	}})
	return r
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
