package timeline_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports/timeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render writes a timeline as text: a lane, and below it what lies on it.
func render(tl timeline.Timeline) string {
	var b strings.Builder
	last := -1
	for _, i := range tl.Items {
		if i.Lane != last {
			last = i.Lane
			fmt.Fprintf(&b, "%s / %s\n", tl.Lanes[i.Lane].Group, tl.Lanes[i.Lane].Name)
		}
		flags := ""
		for flag, set := range map[string]bool{"R": i.Row} {
			if set {
				flags += flag
			}
		}
		if i.Turn {
			flags += "T"
		}
		if i.Open {
			flags += "O"
		}
		fmt.Fprintf(&b, "  %v..%v %s %s [%s] %s | %s\n", i.From, i.To, i.Kind, i.Label, flags, i.Text, i.Note)
	}
	return b.String()
}

func TestNew(t *testing.T) {
	for name, record := range map[string]*history.Record{
		"lost-after-sync": histories.LostAfterSync(),
		"stale-copy":      histories.StaleCopy(),
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			key := record.Observed.Comparison.Diffs[0].Key
			got := render(timeline.New(timeline.Input{Record: record, Key: key}))
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
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("timeline (-want +got):\n%s", diff)
			}
		})
	}
}
