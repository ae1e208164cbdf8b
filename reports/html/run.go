package html

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
	"rowproof/reports/rows"
	"rowproof/reports/timeline"
)

// runPage is all that the page of a run shows.
type runPage struct {
	frame
	Run    reports.Run
	Record *history.Record
	Bug    string
	Index  string // the suite's page, from here; "" if there is none
	Answer answer
	reasons
	picture
	differences
	Command string // of the subject
	Ended   string
}

// reasons is why the answer is what it is.
type reasons struct {
	Found  []finding
	More   int // anomalies beyond those
	Doubts []string
}

// picture is what happened.
type picture struct {
	Story   story
	Data    string // the timeline, for the script; "" if there is none
	Missing string // why there is none
}

// differences is what differs beside the row of the answer.
type differences struct {
	Others []rows.Table
	Hidden int // differing rows beyond those
	Schema []history.SchemaDiff
}

// finding is one anomaly with its explanation.
type finding struct {
	check.Anomaly
	Parts []string
}

const (
	mostFindings = 5
	mostRows     = 20 // differing rows that are shown column by column
)

// WriteRun writes the page of a run into its directory. index is the path of
// the suite's page, "" if there is none.
func (p Pages) WriteRun(r reports.Run, index string) error {
	page, err := newRunPage(r, index)
	if err != nil {
		return err
	}
	return p.write(filepath.Join(r.Dir, RunFile), "run.tmpl", page)
}

func newRunPage(r reports.Run, index string) (runPage, error) {
	f, err := newFrame(r.Record.Scenario+" on "+r.SubjectName()+": "+r.VerdictText(), "timeline.js")
	if err != nil {
		return runPage{}, err
	}
	page := runPage{frame: f, Run: r, Record: r.Record, Bug: reports.BugLine(r.Record.Bug), Index: link(r.Dir, index)}
	judgement := r.Conclusion.Judgement
	anomalies := r.Anomalies()
	page.Found, page.More = findings(anomalies)
	if judgement.Verdict != check.NotApplicable { // then the answer says it
		page.Doubts = judgement.Reasons()
	}
	page.Ended = timeline.ExitNote(r.Record.Exit)
	full, statements, err := timeline.Load(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		page.Missing = "The run ended before its operations and marks were stored, so there is no timeline."
		page.Answer = newAnswer(r, r.Record, anomalies)
		return page, nil
	}
	if err != nil {
		return runPage{}, err
	}
	page.Record = full
	page.Answer = newAnswer(r, full, anomalies)
	page.Others, page.Hidden = rows.Others(full, page.Answer.Key, mostRows)
	page.Schema = full.Observed.Schema
	page.Command = command(full)
	tl := timeline.New(timeline.Input{Record: full, Statements: statements, Key: page.Answer.Key})
	if len(tl.Items) == 0 {
		page.Missing = "Nothing that happened was recorded, so there is no timeline."
		return page, nil
	}
	page.Story = newStory(tl)
	page.Data, err = pack(tl, focus(tl, anomalies))
	return page, err
}

// findings returns the first anomalies, each explanation once: two checkers
// may find one loss.
func findings(anomalies []check.Anomaly) (found []finding, more int) {
	told := map[string]bool{}
	for i, a := range anomalies {
		if i == mostFindings {
			return found, len(anomalies) - i
		}
		f := finding{Anomaly: a}
		if a.Explanation != "" && !told[a.Explanation] {
			told[a.Explanation] = true
			f.Parts = strings.Split(a.Explanation, "\n\n")
		}
		found = append(found, f)
	}
	return found, 0
}

// command is the command line of the subject.
func command(r *history.Record) string {
	i := slices.IndexFunc(r.Marks, func(m history.Mark) bool { return m.Name == history.MarkSubjectStart })
	if i < 0 {
		return ""
	}
	return r.Marks[i].Text
}

// window is the part of the timeline to begin with, and the item to show.
type window struct {
	from, to time.Duration
	item     int // -1 is none
}

// focus returns where the first anomaly is: the history of its row, or else
// the operation or the turning point that shows it.
func focus(tl timeline.Timeline, anomalies []check.Anomaly) window {
	w := window{to: tl.End, item: -1}
	if len(anomalies) == 0 {
		return w
	}
	for _, n := range tl.History() {
		if i := tl.Items[n]; i.Row {
			if w.item < 0 {
				w = window{i.From, i.To, n}
			}
			w.to = max(w.to, i.To)
		}
	}
	if w.item >= 0 {
		return w
	}
	last := -1
	for n, i := range tl.Items {
		if anomalies[0].Kind == check.MissingTable && i.Kind == timeline.Refused && strings.Contains(i.Note, fmt.Sprint("error ", noSuchTable)) ||
			anomalies[0].Kind == check.SchemaDifference && i.Label == "rename" {
			return window{i.From, i.To, n}
		}
		if i.Turn && (last < 0 || i.From >= tl.Items[last].From) {
			last = n
		}
	}
	if last >= 0 {
		w = window{tl.Items[last].From, tl.Items[last].To, last}
	}
	return w
}

// noSuchTable is the server's error number for a table that is not there.
const noSuchTable = 1146

// link is the path of a file as seen from a directory, as a page links to it.
func link(dir, file string) string {
	if file == "" {
		return ""
	}
	dir, errDir := filepath.Abs(dir)
	file, errFile := filepath.Abs(file)
	if errDir != nil || errFile != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}
