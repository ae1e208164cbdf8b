package check

import (
	"regexp"
	"time"

	"rowproof/harness/history"
)

// findApplied finds the statement that applied the write's event: the first
// one after the event was there that names the key, or else just the first.
func (e *evidence) findApplied() {
	if e.write == nil {
		return
	}
	from := max(e.passed, e.event.at, e.write.Invoke)
	e.applied = e.step("apply", func(s statement) bool { return s.sent >= from })
}

// findCopied finds the copy of the row that ended last: what it wrote is what
// the shadow holds.
func (e *evidence) findCopied() {
	var last statement
	for _, s := range e.steps("copy-write") {
		if !last.known || s.named && !last.named || s.named == last.named && s.after(last) {
			last = s
		}
	}
	e.copied.write = last
	for _, s := range e.steps("copy-read") {
		before := !last.known || s.sent <= last.sent
		if before && (!e.copied.read.known || s.named || !e.copied.read.named) {
			e.copied.read = s
		}
	}
	if !last.known {
		return
	}
	for _, m := range e.record.Marks {
		if m.Step != "copy-write" || last.id != stepID(m) {
			continue
		}
		switch m.Name {
		case history.MarkHeld:
			e.copied.held = m.At
		case history.MarkReleased:
			e.copied.released = m.At
		}
	}
}

func (s statement) after(t statement) bool { return max(s.sent, s.replied) > max(t.sent, t.replied) }

// copyEnd returns when the copy's write was done.
func (e *evidence) copyEnd() time.Duration {
	return max(e.copied.write.replied, e.copied.write.sent, e.copied.released)
}

// step returns the first statement of a step that fits and names the key, or
// else the first that fits.
func (e *evidence) step(name string, fits func(statement) bool) statement {
	var first statement
	for _, s := range e.steps(name) {
		if !fits(s) {
			continue
		}
		if s.named {
			return s
		}
		if !first.known {
			first = s
		}
	}
	return first
}

// steps returns the statements of a step, with their replies.
func (e *evidence) steps(name string) []statement {
	var all []statement
	at := map[string]int{}
	word := keyWord(e.key)
	for _, m := range e.record.Marks {
		if m.Step != name {
			continue
		}
		switch m.Name {
		case history.MarkStepSent:
			at[stepID(m)] = len(all)
			all = append(all, statement{known: true, named: word.MatchString(m.Text), sent: m.At, id: stepID(m)})
		case history.MarkStepReplied:
			i, ok := at[stepID(m)]
			if !ok {
				continue
			}
			all[i].replied, all[i].affected = m.At, m.Data["affected"]
			for _, row := range rowsOf(m) {
				if len(row) > 1 && row[0] != nil && *row[0] == string(e.key) {
					all[i].named, all[i].row = true, list(row)
				}
			}
		}
	}
	return all
}

// stepID tells statements of a step apart.
func stepID(m history.Mark) string { return m.Data["conn"] + "/" + m.Data["occurrence"] }

// keyWord matches the key in a statement, as a word of its own.
func keyWord(k history.Key) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9A-Za-z_.\-])` + regexp.QuoteMeta(string(k)) + `(?:$|[^0-9A-Za-z_.])`)
}

func list(row []*string) string {
	s := ""
	for i, v := range row {
		if i > 0 {
			s += ", "
		}
		s += value(v)
	}
	return s
}
