package check

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rowproof/harness/history"
)

// evidence is what a record says about one row.
type evidence struct {
	record *history.Record
	key    history.Key
	before history.Row // the row before the run

	write   *history.Op     // the last write to the row that took effect or may have
	change  *history.Change // what it did to it
	event   logged          // where it is in the binlog
	visible time.Duration   // when readers saw it; 0: not recorded
	passed  time.Duration   // when its event passed to the subject; 0: not recorded

	stream  start
	span    span
	copied  copying
	applied statement
}

// logged is a transaction in the binlog.
type logged struct {
	at         time.Duration // when it was seen there; 0: not recorded
	gtid, file string
	start, end uint64
}

func (l logged) known() bool { return l.file != "" }

func (l logged) String() string {
	s := fmt.Sprintf("%s, up to position %d", l.file, l.end)
	if l.start > 0 {
		s = fmt.Sprintf("%s, positions %d to %d", l.file, l.start, l.end)
	}
	if l.gtid != "" {
		s += ", GTID " + l.gtid
	}
	return s
}

// start is where the subject's stream starts: at a position, or behind a set
// of transactions.
type start struct {
	at    time.Duration
	file  string
	pos   uint64
	gtids string
	taken time.Duration // when the subject had attached: what passed before that it did not take up
}

// span is the range of keys to copy.
type span struct {
	known, empty bool
	at           time.Duration
	min, max     string // min is "" if only the end was read
}

// statement is a step of the subject.
type statement struct {
	known         bool
	named         bool // its text or its rows name the key
	sent, replied time.Duration
	affected      string
	row           string // the row as it was read
	id            string
}

func (s statement) covers(k history.Key) string {
	if s.named {
		return fmt.Sprintf("with row %s", k)
	}
	return "(which keys it held is " + notRecorded + ")"
}

type copying struct {
	read, write    statement
	held, released time.Duration
}

// answer is what the record can tell of a question.
type answer uint8

const (
	unsure answer = iota
	yes
	no
)

func (e *evidence) collect() {
	e.before = initialRows(e.record)[e.key]
	for _, op := range inOrder(e.record.Ops) {
		if op.Outcome == history.Failed {
			continue
		}
		for i, c := range op.Changes {
			if c.Key == e.key || c.Kind == history.Move && c.NewKey == e.key {
				e.write, e.change = &op, &op.Changes[i]
			}
		}
	}
	e.findEvent()
	e.findStream()
	e.findSpan()
	e.findApplied()
	e.findCopied()
}

// isNew reports a row that was not there before the run.
func (e *evidence) isNew() bool { return e.before == nil && e.write != nil }

// seen returns when the write was there for readers, at the latest.
func (e *evidence) seen() time.Duration {
	if e.visible > 0 || e.write == nil {
		return e.visible
	}
	return e.write.Return
}

// findEvent finds the write's transaction in the binlog, by the mark of the
// harness that waited for it, or by its row event.
func (e *evidence) findEvent() {
	if e.write == nil {
		return
	}
	id := strconv.Itoa(e.write.ID)
	for _, m := range e.record.Marks {
		switch {
		case m.Name == history.MarkBinlogged && m.Data["op"] == id:
			end, _ := strconv.ParseUint(m.Data["pos"], 10, 64) // 0 is "not recorded"
			e.event = logged{at: m.At, gtid: m.Data["gtid"], file: m.Data["file"], end: end}
		case m.Name == history.MarkVisible && (m.Data["op"] == id || m.Data["op"] == "" && m.Data["key"] == string(e.key)) && e.visible == 0:
			e.visible = m.At
		}
	}
	// The last event of this row on the original is the last write's, unless
	// the mark names another one.
	for _, b := range e.record.Observed.Binlog {
		if b.Kind == ddlKind || b.Table != e.record.Table.Name || b.Key != e.key && b.NewKey != e.key {
			continue
		}
		if e.event.gtid != "" && b.GTID != "" && b.GTID != e.event.gtid {
			continue
		}
		e.event.file, e.event.start, e.event.end = b.File, b.Start, b.End
		if b.GTID != "" {
			e.event.gtid = b.GTID
		}
	}
	if !e.event.known() {
		return
	}
	for _, m := range e.record.Marks {
		// A rotate only names a position; at the start of a stream it names
		// the one where the stream begins.
		if m.Name != history.MarkStreamEvent || e.passed > 0 || m.Data["kind"] == "rotate" {
			continue
		}
		pos, err := strconv.ParseUint(m.Data["pos"], 10, 64)
		same := e.event.gtid != "" && m.Data["gtid"] == e.event.gtid ||
			err == nil && m.Data["file"] == e.event.file && pos > e.event.start && pos <= e.event.end && e.event.start > 0
		if same {
			e.passed = m.At
		}
	}
}

var dumpFrom = regexp.MustCompile(`dump from (\S+):(\d+)`)

// findStream finds where the stream started: the last position the subject
// read before it asked for the stream, or else what it asked for. The order
// matters: a tool that reads a position asks for just that.
func (e *evidence) findStream() {
	for _, m := range e.record.Marks {
		if m.Name == history.MarkStepReplied && m.Step == "attach" {
			e.stream.taken = m.At
			break
		}
	}
	for _, m := range e.record.Marks {
		switch {
		case m.Name == history.MarkStepReplied && m.Step == "attach":
			if s, ok := attachedAt(m); ok {
				s.taken = e.stream.taken
				e.stream = s
			}
		case m.Name == history.MarkStepSent && m.Step == "dump":
			if e.stream.file == "" && e.stream.gtids == "" {
				e.stream.at = m.At
			}
			if at := dumpFrom.FindStringSubmatch(m.Text); at != nil {
				pos, err := strconv.ParseUint(at[2], 10, 64)
				if err == nil && at[1] != "" && pos > 4 {
					e.stream.file, e.stream.pos = at[1], pos
				}
			} else if _, set, ok := strings.Cut(m.Text, "without GTIDs "); ok {
				// What it asked for, not what it read: the two differ while a
				// transaction waits for its ACK.
				e.stream.file, e.stream.gtids = "", set
			}
			return // a second dump is a reconnection
		}
	}
}

// attachedAt reads the reply to SHOW BINARY LOG STATUS: file, position, two
// filters, GTID set.
func attachedAt(m history.Mark) (start, bool) {
	for _, row := range rowsOf(m) {
		if len(row) < 2 || row[0] == nil || row[1] == nil {
			continue
		}
		pos, err := strconv.ParseUint(*row[1], 10, 64)
		if err != nil {
			continue
		}
		return start{at: m.At, file: *row[0], pos: pos}, true
	}
	return start{}, false
}

func rowsOf(m history.Mark) [][]*string {
	var rows [][]*string
	if json.Unmarshal([]byte(m.Data["rows"]), &rows) != nil {
		return nil // no rows, or not in a form that this version knows
	}
	return rows
}

// findSpan finds the range: one reply of two values, or two of one.
func (e *evidence) findSpan() {
	var values []*string
	for _, m := range e.record.Marks {
		if m.Name != history.MarkStepReplied || m.Step != "range-read" || m.Data["error"] != "" {
			continue
		}
		rows := rowsOf(m)
		e.span.at = m.At
		if m.Data["rows"] != "" {
			e.span.known = true
		}
		for _, row := range rows {
			values = append(values, row...)
		}
	}
	var texts []string
	for _, v := range values {
		if v != nil {
			texts = append(texts, *v)
		}
	}
	switch {
	case len(texts) == 0:
		e.span.empty = e.span.known
	case len(texts) == 2:
		e.span.min, e.span.max = texts[0], texts[1]
		if less(texts[1], texts[0]) == yes {
			e.span.min, e.span.max = texts[1], texts[0]
		}
	case len(texts) == 1: // a tool that marks the read of the end alone
		e.span.max = texts[0]
	default:
		e.span.known = false // a composite key, or several reads
	}
}

// less compares two keys as numbers; other texts are for the server to order.
func less(a, b string) answer {
	x, okX := number(a)
	y, okY := number(b)
	switch {
	case !okX || !okY:
		return unsure
	case x.Cmp(y) < 0:
		return yes
	}
	return no
}

func (e *evidence) inRange() answer {
	if !e.span.known {
		return unsure
	}
	if e.span.empty {
		return no
	}
	below, above := less(string(e.key), e.span.min), less(e.span.max, string(e.key))
	switch {
	case below == yes || above == yes:
		return no
	case below == unsure || above == unsure:
		return unsure
	}
	return yes
}

// tooEarly reports whether the write's event passed to the subject before that
// had attached. A tool may ask for the stream first and begin to listen to it
// later.
func (e *evidence) tooEarly() bool { return e.passed > 0 && e.passed < e.stream.taken }

// streamed tells whether the write's event was in what the subject took from
// its stream.
func (e *evidence) streamed() answer {
	if e.tooEarly() {
		return no
	}
	if e.passed > 0 {
		return yes
	}
	if !e.event.known() {
		return unsure
	}
	if e.stream.file != "" {
		if c := compareFiles(e.event.file, e.stream.file); c < 0 || c == 0 && e.event.end <= e.stream.pos {
			return no
		}
		return yes
	}
	if e.stream.gtids != "" && e.event.gtid != "" {
		if contains(e.stream.gtids, e.event.gtid) {
			return no
		}
		return yes
	}
	return unsure
}
