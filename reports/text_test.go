package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"rowproof/reports"
)

func TestWriteText(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		golden(t, "text.golden", plainText(t, load(t, suite)))
	})

	t.Run("OK/AllAsExpected", func(t *testing.T) {
		golden(t, "text-good.golden", plainText(t, load(t, filepath.Join(suite, "seam-after-sync", "osc", "1"),
			filepath.Join(suite, "seam-after-sync", "mutant-range-read-trusts-attach"))))
	})

	t.Run("OK/NoControl", func(t *testing.T) {
		runs := load(t, suite)
		const want = " has no control: nothing proves that it can find its bug.\n"
		if got := plainText(t, runs); strings.Contains(string(got), want) {
			t.Errorf("got %q of scenarios that have controls", want)
		}
		for _, r := range runs {
			r.Record.Unproven = r.Record.Scenario == "seam-after-sync"
		}
		if got := plainText(t, runs); strings.Count(string(got), "seam-after-sync"+want) != 1 {
			t.Errorf("got %q, want once %q", got, want)
		}
	})

	// Where nothing could be run, nothing was shown.
	t.Run("OK/NotApplicableIsNoPass", func(t *testing.T) {
		runs := load(t, filepath.Join(suite, "copy-split-read-write", "pt-osc"))
		if want := "0 runs: 0 as expected, 0 not; 1 not applicable"; !strings.Contains(string(plainText(t, runs)), want) || reports.Expected(runs) {
			t.Errorf("got %s, as expected %v, want %q and not as expected", plainText(t, runs), reports.Expected(runs), want)
		}
	})

	// A control that is Invalid is good news, a control that is Valid is not.
	t.Run("OK/ColourIsByExpectation", func(t *testing.T) {
		text.EnableColors() // whatever the environment says
		var b bytes.Buffer
		if err := reports.WriteText(reports.Terminal{W: &b, Colour: true}, load(t, suite)); err != nil {
			t.Fatal(err)
		}
		for want, colour := range map[string]text.Color{
			"Invalid (as it must)":    text.FgGreen,
			"Valid (must be Invalid)": text.FgRed,
			"Invalid":                 text.FgRed,
			"Valid":                   text.FgGreen,
			"Unknown":                 text.FgRed,
			"Invalid (as known)":      text.FgGreen,
			"Not applicable":          text.FgGreen,
		} {
			if !strings.Contains(b.String(), colour.Sprint(want)) {
				t.Errorf("text lacks %q", colour.Sprint(want))
			}
		}
	})

	t.Run("ErrWrite", func(t *testing.T) {
		f, err := os.Open(os.DevNull) // not for writing
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := reports.WriteText(reports.Terminal{W: f}, load(t, suite)); err == nil {
			t.Error("write: got no error")
		}
	})
}

func TestNewTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := reports.NewTerminal(f); got.Live || got.Colour {
		t.Errorf("a file as terminal: got %+v, want neither live nor coloured", got)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\tü €":   "plain\n\tü €",
		"\x1b[31mred":    `\x1b[31mred`,
		"bell\a nul\x00": `bell\a nul\x00`,
		"bad \xff\xfe":   `bad \xff\xfe`,
		"real \ufffd":    "real \ufffd",
		"rtl \u202e":     `rtl \u202e`,
	} {
		t.Run("OK/"+want, func(t *testing.T) {
			if got := reports.Printable(in); got != want {
				t.Errorf("printable: got %q, want %q", got, want)
			}
		})
	}
}
