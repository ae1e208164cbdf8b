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
	writes := e.steps("copy-write")
	for _, s := range writes {
		if !last.known || s.named && !last.named || s.named == last.named && s.after(last) {
			last = s
		}
	}
	if len(writes) == 1 && e.inRange() != no {
		last.named = true // what is in the shadow came by it
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
	names := e.namer()
	for _, m := range e.record.Marks {
		if m.Step != name {
			continue
		}
		switch m.Name {
		case history.MarkStepSent:
			at[stepID(m)] = len(all)
			all = append(all, statement{known: true, named: names(m.Text), sent: m.At, id: stepID(m)})
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

// namer returns a function that reports whether a statement concerns the key.
func (e *evidence) namer() func(string) bool { return Names(e.record.Table, e.key) }

// Names returns a function that reports whether a statement concerns a key:
// it stands there as a word of its own, or in a range of the key's column.
func Names(table history.Table, key history.Key) func(string) bool {
	word := regexp.MustCompile(`(?:^|[^0-9A-Za-z_.\-])` + regexp.QuoteMeta(string(key)) + `(?:$|[^0-9A-Za-z_.])`)
	var bounds *regexp.Regexp // nil: a key of several columns lies in no range of one
	if columns := table.Key; len(columns) == 1 {
		bounds = regexp.MustCompile("(?i)(?:^|[^0-9A-Za-z_])" + regexp.QuoteMeta(columns[0]) + "`?\\)?\\s*(?:(>=|<=|>|<)\\s*\\(?'?(-?[0-9]+)|BETWEEN\\s+'?(-?[0-9]+)'?\\s+AND\\s+'?(-?[0-9]+))")
	}
	return func(text string) bool {
		if word.MatchString(text) {
			return true
		}
		if bounds == nil {
			return false
		}
		found := bounds.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			if !within(string(key), m) {
				return false
			}
		}
		return len(found) > 0
	}
}

// within tells whether a key satisfies one bound: an operator and a number, or
// the two numbers of a BETWEEN.
func within(key string, m []string) bool {
	switch m[1] {
	case ">=":
		return less(key, m[2]) == no
	case ">":
		return less(m[2], key) == yes
	case "<=":
		return less(m[2], key) == no
	case "<":
		return less(key, m[2]) == yes
	}
	return less(key, m[3]) == no && less(m[4], key) == no
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
