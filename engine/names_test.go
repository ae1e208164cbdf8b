package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rowproof/engine/cutover"
	"rowproof/engine/ddl"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("é", 64) // 64 characters, 128 bytes
	for _, c := range []struct{ table, want string }{
		{"orders", "_orders_old"},
		{strings.Repeat("a", 59), "_" + strings.Repeat("a", 59) + "_old"}, // 64 characters: just fits
	} {
		if got := derive(c.table, "_old"); got != c.want {
			t.Errorf("derive(%q): got %q, want %q", c.table, got, c.want)
		}
	}
	if got := utf8.RuneCountInString(derive(long, "_new")); got != maxName {
		t.Errorf("length of a long name: got %d characters, want %d", got, maxName)
	}
	// Two long names with the same beginning must not share their shadow.
	a, b := derive(strings.Repeat("a", 63)+"x", "_new"), derive(strings.Repeat("a", 63)+"y", "_new")
	if a == b {
		t.Errorf("two tables share the name %q", a)
	}
}

func TestOutcomeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{nil, Completed},
		{&UsageError{"--table is missing"}, Usage},
		{&ddl.Refusal{What: "table t"}, Refused},
		{fmt.Errorf("swap tables: %w", cutover.ErrUndecided), NeedsPerson},
		// What is undecided stays so, whatever else went wrong.
		{errors.Join(&ddl.Refusal{What: "table t"}, cutover.ErrUndecided), NeedsPerson},
		{fmt.Errorf("cut over: %w", cutover.ErrBusy), Aborted},
		{errors.New("anything else"), Aborted},
	} {
		if got := OutcomeOf(c.err); got != c.want {
			t.Errorf("OutcomeOf(%v): got %d, want %d", c.err, got, c.want)
		}
	}
}
