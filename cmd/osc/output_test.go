package main

import (
	"bytes"
	"fmt"
	"testing"
)

// On a terminal log lines stand above the progress, which is cut to fit.
func TestScreen(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, width: func() int { return 12 }}
	fmt.Fprintln(s, "before")
	s.show("copying 5%")
	s.show("copying 10% and more")
	fmt.Fprintln(s, "between")
	s.show("")
	fmt.Fprintln(s, "after")
	want := "before\n" +
		wipe + "copying 5%" +
		wipe + "copying 10…" +
		wipe + "between\ncopying 10…" +
		wipe +
		"after\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
