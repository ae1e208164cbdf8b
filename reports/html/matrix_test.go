package html_test

import (
	"path/filepath"
	"strings"
	"testing"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/html"
)

func TestMatrix(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*history.Record)
		want   []string
	}{
		"Found": {func(*history.Record) {}, []string{`<td class="cell-good"`, ">found: lost row<", "<td>1</td>"}},
		// A control that is Invalid for another reason than the scenario's own
		// proves nothing of the scenario.
		"OtherAnomaly": {func(r *history.Record) { r.Guards = "stale row" }, []string{`<td class="cell-bad"`, ">not as it must: lost row<", "<td>0</td>"}},
		// Of a mutant that is not the scenario's own, nothing is demanded.
		"NotItsControl": {func(r *history.Record) { r.Guards, r.Control = "stale row", false }, []string{`<td class="cell-good"`, ">found: lost row<", "<td>1</td>"}},
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			r := histories.LostAfterSync()
			r.Control = true
			tt.change(r)
			suite := t.TempDir()
			run := store(t, suite, r)
			if err := pages(t).WriteSuite(suite, []reports.Run{run}, nil); err != nil {
				t.Fatal(err)
			}
			_, matrix, _ := strings.Cut(read(t, filepath.Join(suite, html.SuiteFile)), `<section id="matrix">`)
			matrix, _, _ = strings.Cut(matrix, "</section>")
			for _, want := range tt.want {
				if !strings.Contains(matrix, want) {
					t.Errorf("matrix lacks %q:\n%s", want, matrix)
				}
			}
		})
	}
}
