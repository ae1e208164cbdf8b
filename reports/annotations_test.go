package reports_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"rowproof/reports"
)

func TestWriteAnnotations(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		var b bytes.Buffer
		places := map[string]reports.Place{"copy-split-read-write": {File: "scenarios/copy_test.go", Line: 12}}
		if err := reports.WriteAnnotations(&b, load(t, suite), places); err != nil {
			t.Fatal(err)
		}
		golden(t, "annotations.golden", b.Bytes())
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "::error ") {
				t.Errorf("line %q: every line must be a command", line)
			}
		}
	})

	t.Run("OK/NothingRepeatsIt", func(t *testing.T) {
		runs := load(t, suite)
		for _, r := range runs {
			r.Record.Repeat = ""
		}
		var b bytes.Buffer
		if err := reports.WriteAnnotations(&b, runs, nil); err != nil {
			t.Fatal(err)
		}
		if b.Len() == 0 || strings.Contains(b.String(), "Repeat") {
			t.Errorf("annotations: got %q, want some, without a command", b.String())
		}
	})

	t.Run("ErrWrite", func(t *testing.T) {
		f, err := os.Open(os.DevNull) // not for writing
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := reports.WriteAnnotations(f, load(t, suite), nil); err == nil {
			t.Error("write: got no error")
		}
	})
}
