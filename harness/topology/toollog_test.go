package topology_test

import (
	"bytes"
	"errors"
	"testing"

	"rowproof/harness/topology"
)

// However a tool's output is cut into pieces, the marks of its end are found
// and taken out, and nothing else is.
func TestToolLog(t *testing.T) {
	text := "one\n\x00rowproof: but not this\ntwo" + topology.ToolEnd + "three\n" + topology.ToolEnd + "\x00row"
	const want = "one\n\x00rowproof: but not this\ntwothree\n"
	for size := 1; size <= len(text); size++ {
		var to bytes.Buffer
		ends := 0
		l := topology.NewToolLog(&to, func() { ends++ })
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := l.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if to.String() != want || ends != 2 {
			t.Errorf("in pieces of %d: got %q and %d ends, want %q and 2", size, to.String(), ends, want)
		}
	}

	t.Run("ErrWrite", func(t *testing.T) {
		l := topology.NewToolLog(broken{}, func() {})
		if _, err := l.Write([]byte("text\n")); !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
	})
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
