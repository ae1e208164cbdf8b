package reports

import (
	"fmt"
	"io"
	"strings"
)

// Place is a line of a source file.
type Place struct {
	File string // from the repository's root
	Line int
}

// WriteAnnotations writes a GitHub annotation for each run that is not as
// expected, at the place of its scenario if that is known.
func WriteAnnotations(w io.Writer, runs []Run, places map[string]Place) error {
	for _, r := range runs {
		if r.Conclusion.Expected {
			continue
		}
		properties := ""
		if p, ok := places[r.Record.Scenario]; ok {
			properties = fmt.Sprintf("file=%s,line=%d,", property(p.File), p.Line)
		}
		title := fmt.Sprintf("%s on %s: %s", r.Record.Scenario, r.SubjectName(), r.VerdictText())
		message := r.Conclusion.Reason
		if anomalies := r.Anomalies(); len(anomalies) > 0 {
			message += "\n" + anomalies[0].Text
		}
		if r.Record.Repeat != "" {
			message += "\nRepeat: " + r.Record.Repeat
		}
		if _, err := fmt.Fprintf(w, "::error %stitle=%s::%s\n", properties, property(title), escaped(message)); err != nil {
			return fmt.Errorf("write annotation: %w", err)
		}
	}
	return nil
}

// escaped is a text as GitHub's commands take it: on one line.
func escaped(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(Printable(s))
}

// property is a text as a property of a command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escaped(s))
}
