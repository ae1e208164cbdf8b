package rows

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"rowproof/reports"
)

func differ(want, got state, column string) bool {
	if want.row == nil || got.row == nil {
		return true
	}
	w, okW := want.row[column]
	g, okG := got.row[column]
	if okW != okG || (w == nil) != (g == nil) {
		return true
	}
	return w != nil && *w != *g || want.hex[column] != got.hex[column]
}

// contrast shows two values that differ from where they do, and their bytes
// if the texts look the same.
func contrast(want, got state, column string) []Value {
	w, g := want.row[column], got.row[column]
	if w == nil || g == nil {
		return []Value{newValue(want, column), newValue(got, column)}
	}
	at := firstRune(*w, *g)
	values := []Value{part(*w, at), part(*g, at)}
	for i, text := range []string{*w, *g} {
		if text == "" {
			values[i].Word = "empty"
		}
	}
	if values[0].Text == values[1].Text || invisible(*w) || invisible(*g) {
		wb, gb := bytesOf(*w, want.hex[column]), bytesOf(*g, got.hex[column])
		values[0].Bytes, values[1].Bytes = bytesAround(wb, gb), bytesAround(gb, wb)
	}
	return values
}

// invisible reports a value that does not show what it is made of.
func invisible(v string) bool {
	return reports.Printable(v) != v || strings.TrimSpace(v) != v || len(v) != utf8.RuneCountInString(v)
}

// firstRune is the number of characters before the first that differs.
func firstRune(a, b string) int {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	for at > 0 && at < len(a) && !utf8.RuneStart(a[at]) {
		at--
	}
	return utf8.RuneCountInString(a[:at])
}

func bytesOf(text, digits string) []byte {
	if b, err := hex.DecodeString(digits); err == nil && len(b) > 0 {
		return b
	}
	return []byte(text)
}

// bytesAround returns the bytes of a around the first that differs from b.
func bytesAround(a, b []byte) []Part {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	from, to := max(at-hexAround, 0), min(at+hexAround, len(a))
	at = min(at, len(a))
	var parts []Part
	if from > 0 {
		parts = append(parts, Part{Hex: fmt.Sprintf("(%d bytes) …", from)})
	}
	parts = append(parts, Part{Hex: spaced(a[from:at])})
	if at < to {
		parts = append(parts, Part{Hex: spaced(a[at:to]), Differ: true})
	} else {
		parts = append(parts, Part{Hex: "(ends here)", Differ: true})
	}
	if to < len(a) {
		parts = append(parts, Part{Hex: fmt.Sprintf("… (%d bytes)", len(a)-to)})
	}
	return parts
}

func spaced(b []byte) string { return fmt.Sprintf("% x", b) }
