package parting

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	mostPartings = 10
	around       = 160 // characters of an event that are shown
	before       = 40  // of them, before the first that differs
)

// WriteText writes where two runs part ways. printable makes a text harmless
// for the place that it goes to.
func (c Comparison) WriteText(w io.Writer, printable func(string) string) error {
	var b strings.Builder
	for i, p := range c.Partings {
		switch i {
		case 0:
			fmt.Fprintf(&b, "They first part ways in %s, event %d:\n", p.Strand, p.Number)
		case mostPartings:
			fmt.Fprintf(&b, "… and in %d strands more\n", len(c.Partings)-i)
		case 1:
			b.WriteString("\nThen:\n")
		}
		if i >= mostPartings {
			break
		}
		indent := "  "
		if i > 0 {
			fmt.Fprintf(&b, "  %s, event %d:\n", p.Strand, p.Number)
			indent = "    "
		}
		textA, textB := contrast(p)
		fmt.Fprintf(&b, "%sA%s: %s\n%sB%s: %s\n", indent, when(p.A), printable(textA), indent, when(p.B), printable(textB))
	}
	if len(c.Partings) == 0 {
		b.WriteString("They do not part ways: all that is recorded is the same, but for times.\n")
	}
	if len(c.Same) > 0 {
		var same []string
		for _, s := range c.Same {
			if strings.HasPrefix(s.Name, answersTo) {
				continue // goes without saying
			}
			same = append(same, fmt.Sprintf("%s (%d)", s.Name, len(s.Events)))
		}
		fmt.Fprintf(&b, "\nThe same in both: %s\n", strings.Join(same, ", "))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

func when(e *Event) string {
	switch {
	case e == nil:
		return ""
	case e.At < 0:
		return ", after the run"
	}
	return fmt.Sprintf(", at %.1f ms", float64(e.At)/float64(time.Millisecond))
}

// contrast shows two events from where they differ on.
func contrast(p Parting) (a, b string) {
	const none = "no such event"
	switch {
	case p.A == nil:
		return none, part(p.B.Text, 0)
	case p.B == nil:
		return part(p.A.Text, 0), none
	}
	at := 0
	for at < len(p.A.Text) && at < len(p.B.Text) && p.A.Text[at] == p.B.Text[at] {
		at++
	}
	return part(p.A.Text, at), part(p.B.Text, at)
}

// part is the part of a long text that holds the byte at.
func part(s string, at int) string {
	if len(s) <= around {
		return s
	}
	from := max(min(at, len(s))-before, 0)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	to := min(from+around, len(s))
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	text := s[from:to]
	if from > 0 {
		text = "…" + text
	}
	if to < len(s) {
		text += "…"
	}
	return text
}
