package reports

import (
	"fmt"
	"io"
	"strings"

	"rowproof/harness/history"
	"rowproof/harness/step"
)

// WriteTrace writes the statements that a subject sent: when, over which
// connection, as which step, and the text. Behind them come the steps that it
// never said.
func WriteTrace(w io.Writer, statements []history.Statement) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%10s  %4s  %-8s %-11s %s\n", "ms", "conn", "kind", "step", "statement")
	said := map[string]bool{}
	for _, s := range statements {
		said[s.Step] = true
		text := strings.Join(strings.Fields(Printable(s.SQL)), " ")
		switch {
		case s.Swallowed:
			text = "(swallowed) " + text
		case s.Error != "":
			text = Printable(s.Error)
		}
		at := s.Time.Sub(statements[0].Time).Seconds() * 1000
		fmt.Fprintf(&b, "%10.1f  %4d  %-8s %-11s %s\n", at, s.Conn, s.Kind, s.Step, text)
	}
	var never []string
	for _, s := range step.All() {
		if !said[string(s)] {
			never = append(never, string(s))
		}
	}
	if len(never) == 0 {
		never = append(never, "none")
	}
	fmt.Fprintf(&b, "\nsteps it never said: %s\n", strings.Join(never, ", "))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}
