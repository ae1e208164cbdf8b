package subject

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxLine is how much of a line is kept for a result.
const maxLine = 4096

// openLog opens a log for appending, so that the subject's two outputs and
// several subjects of one run can share it.
func openLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open subject log: %w", err)
	}
	return f, nil
}

// lastLine passes on what is written and remembers the last line that isn't
// blank or idle.
type lastLine struct {
	to   io.Writer
	idle *regexp.Regexp  // nil: no line is
	line strings.Builder // the line being written
	last string
}

func (l *lastLine) Write(data []byte) (int, error) {
	for part := range strings.Lines(string(data)) {
		l.add(strings.TrimRight(part, "\r\n"))
		if strings.HasSuffix(part, "\n") {
			l.end()
		}
	}
	return l.to.Write(data)
}

func (l *lastLine) add(text string) {
	if room := maxLine - l.line.Len(); len(text) > room {
		text = strings.ToValidUTF8(text[:room], "")
	}
	l.line.WriteString(text)
}

func (l *lastLine) end() {
	if line := strings.TrimSpace(l.line.String()); line != "" && (l.idle == nil || !l.idle.MatchString(line)) {
		l.last = line
	}
	l.line.Reset()
}

// String returns the last line. Call it once nothing is written any more.
func (l *lastLine) String() string {
	l.end()
	return l.last
}
