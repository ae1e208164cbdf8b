package markdown

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/rows"
	"rowproof/reports/timeline"
)

// BugFile is a bug report, in the directory of an Invalid run.
const BugFile = "bug.md"

// mostEvents is how many events a bug report lists.
const mostEvents = 40

// WriteBug writes a bug report into the directory of a run that is Invalid,
// and removes an older one from that of a run which is not.
func WriteBug(r reports.Run) error {
	path := filepath.Join(r.Dir, BugFile)
	if j := r.Conclusion.Judgement; j.Verdict != check.Invalid || len(j.Anomalies()) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove bug report: %w", err)
		}
		return nil
	}
	text, err := Bug(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write bug report: %w", err)
	}
	return nil
}

// Bug is the bug report on an Invalid run. Whoever gets it has other
// directories, so it names none of this machine.
func Bug(r reports.Run) (string, error) {
	record, statements, err := timeline.Load(r.Dir)
	if errors.Is(err, fs.ErrNotExist) { // little was stored: tell that
		record, err = r.Record, nil
	}
	if err != nil {
		return "", err
	}
	return bug(r, record, statements), nil
}

func bug(r reports.Run, record *history.Record, statements []history.Statement) string {
	anomalies := r.Anomalies()
	first := anomalies[0]
	var b strings.Builder
	fmt.Fprintf(&b, "# %s in `%s` after an online schema change\n\n", capital(string(first.Kind)), strings.ReplaceAll(record.Table.Name, "`", ""))
	fmt.Fprintf(&b, "%s\n\n%s\n\n", prose(first.Text), prose(reports.Outcome(r)))
	told := map[string]bool{}
	for _, a := range anomalies {
		if a.Explanation != "" && !told[a.Explanation] && a.Key == first.Key {
			told[a.Explanation] = true
			fmt.Fprintf(&b, "%s\n\n", prose(a.Explanation))
		}
	}
	if first.Key != "" {
		writeRow(&b, rows.New(record, first.Key))
	}
	tl := timeline.New(timeline.Input{Record: record, Statements: statements, Key: first.Key})
	writeEvents(&b, tl)
	writeOthers(&b, anomalies[1:])
	writeRepeat(&b, r, record)
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func writeRow(b *strings.Builder, t rows.Table) {
	if len(t.Columns) == 0 {
		return
	}
	fmt.Fprintf(b, "## The row with key %s\n\n| column |", code(string(t.Key)))
	for _, s := range t.States {
		fmt.Fprintf(b, " %s |", cell(s))
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(t.States)+1) + "\n")
	for _, c := range t.Columns {
		fmt.Fprintf(b, "| %s |", code(c.Name))
		for _, v := range c.Values {
			text := code(v.Text)
			if v.Word != "" {
				text = "*" + v.Word + "*"
			}
			if v.Note != "" {
				text += " (" + cell(v.Note) + ")"
			}
			if len(v.Bytes) > 0 {
				var hex []string
				for _, p := range v.Bytes {
					hex = append(hex, p.Hex)
				}
				text += ", bytes " + code(strings.Join(hex, " "))
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func writeEvents(b *strings.Builder, tl timeline.Timeline) {
	events := tl.History()
	if len(events) == 0 {
		return
	}
	b.WriteString("## What happened, in order\n\n| ms | where | what | result |\n| ---: | --- | --- | --- |\n")
	left := max(len(events)-mostEvents, 0)
	bold := false
	for _, n := range events[left:] {
		i := tl.Items[n]
		what := cell(i.Label)
		if i.Row {
			what, bold = "**"+what+"**", true
		}
		if i.Text != "" && i.Text != i.Label {
			what += ": " + code(short(i.Text))
		}
		at := fmt.Sprintf("%.1f", milliseconds(i.From))
		if i.To > i.From {
			at += fmt.Sprintf(" to %.1f", milliseconds(i.To))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", at, cell(tl.Lanes[i.Lane].Place()), what, cell(short(i.Note)))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d earlier events are left out.\n", left)
	}
	if bold {
		b.WriteString("\nBold: the row's own events. The others are faults and turning points of the migration.\n")
	}
	b.WriteString("\n")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// short keeps a report readable: a statement of a megabyte helps nobody.
func short(s string) string {
	const most = 1000
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d characters)", string(r[:most]), len(r))
}

func writeOthers(b *strings.Builder, anomalies []check.Anomaly) {
	if len(anomalies) == 0 {
		return
	}
	b.WriteString("## What else was found\n\n")
	const most = 10
	for _, a := range anomalies[:min(len(anomalies), most)] {
		fmt.Fprintf(b, "- %s: %s\n", a.Kind, cell(a.Text))
	}
	if more := len(anomalies) - most; more > 0 {
		fmt.Fprintf(b, "- … and %d more\n", more)
	}
	b.WriteString("\n")
}

func writeRepeat(b *strings.Builder, r reports.Run, record *history.Record) {
	b.WriteString("## How to repeat it\n\n")
	if record.Repeat != "" {
		b.WriteString("With rowproof:\n\n" + block("sh", withoutDirs(record.Repeat)) + "\n")
	}
	b.WriteString("By hand:\n\n")
	fmt.Fprintf(b, "- The table: %s, %d rows, key %s\n", code(record.Table.Schema+"."+record.Table.Name), record.Table.Rows, code(strings.Join(record.Table.Key, ", ")))
	fmt.Fprintf(b, "- The change: %s\n", code("ALTER TABLE "+record.Table.Name+" "+record.Table.Alter))
	if i := slices.IndexFunc(record.Marks, func(m history.Mark) bool { return m.Name == history.MarkSubjectStart }); i >= 0 {
		fmt.Fprintf(b, "- The tool: %s\n", code(withoutDirs(record.Marks[i].Text)))
	}
	for _, name := range record.Planned {
		fmt.Fprintf(b, "- Meanwhile, %s\n", cell(name))
	}
	b.WriteString("\n## Versions\n\n")
	fmt.Fprintf(b, "- tool: %s\n", code(withoutDirs(r.SubjectName())))
	for _, s := range record.Servers {
		var options []string
		for name, value := range s.Options {
			options = append(options, name+"="+value)
		}
		slices.Sort(options)
		fmt.Fprintf(b, "- %s: MySQL %s, %s\n", cell(s.Name), code(s.Version), code(strings.Join(options, " ")))
	}
	fmt.Fprintf(b, "- seed: %d\n- run of: %s\n", record.Seed, record.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
}

var (
	// subjectPath is the program of a tool that rowproof is told to run.
	subjectPath = regexp.MustCompile(`(--subject '?[\w-]+=)/[^\s']+`)
	// localPath is any other path of this machine where a word, or the value
	// of an option, begins.
	localPath = regexp.MustCompile(`(^|[\s=])/(?:[^\s/]+/)+([^\s/]+)`)
)

// withoutDirs leaves the last part of each path in a command, and of the
// tool's own path that there is one.
func withoutDirs(command string) string {
	return localPath.ReplaceAllString(subjectPath.ReplaceAllString(command, "${1}PATH"), "$1$2")
}
