package topology

import (
	"bytes"
	"io"
)

// toolEnd is what serve writes behind the last byte of a tool.
var toolEnd = []byte("\x00rowproof: ended\n")

// toolLog passes on what a tool writes and takes out the marks of its end.
type toolLog struct {
	to    io.Writer
	ended func() // called at each mark
	kept  []byte // may be the beginning of a mark
}

func (l *toolLog) Write(data []byte) (int, error) {
	l.kept = append(l.kept, data...)
	for {
		before, after, found := bytes.Cut(l.kept, toolEnd)
		if !found {
			break
		}
		if _, err := l.to.Write(before); err != nil {
			return 0, err
		}
		l.kept = after
		l.ended()
	}
	safe := len(l.kept)
	for n := min(len(toolEnd)-1, safe); n > 0; n-- {
		if bytes.HasSuffix(l.kept, toolEnd[:n]) {
			safe -= n
			break
		}
	}
	if _, err := l.to.Write(l.kept[:safe]); err != nil {
		return 0, err
	}
	l.kept = append([]byte(nil), l.kept[safe:]...)
	return len(data), nil
}
