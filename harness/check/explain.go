package check

import (
	"fmt"
	"strings"
	"time"

	"rowproof/harness/history"
)

// Explain tells how an anomaly of one row came about, from what the record
// holds and nothing else: what it does not hold is called "not recorded". It
// returns "" for an anomaly that its own sentence explains.
func Explain(r *history.Record, a Anomaly) string {
	switch a.Kind {
	case LostRow, StaleRow, ResurrectedRow, LostWrite:
	default:
		return ""
	}
	if a.Key == "" {
		return ""
	}
	e := evidence{record: r, key: a.Key}
	e.collect()
	parts := []string{e.theWrite(), e.theBinlog()}
	switch lost := a.Kind == LostRow || a.Kind == LostWrite && e.isNew(); {
	case e.write == nil:
		parts = append(parts, e.theRange(), e.theCopy())
	case lost:
		parts = append(parts, e.theStream(), e.theRange(), e.whyLost())
	case e.streamed() == no:
		parts = append(parts, e.theStream(), e.theCopy(), e.whyUnseen())
	default:
		parts = append(parts, e.theCopy(), e.theApply(), e.whyStale(a.Kind))
	}
	var told []string
	for _, p := range parts {
		if p != "" {
			told = append(told, p)
		}
	}
	return strings.Join(told, "\n\n")
}

// ms renders a time of the run.
func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

const notRecorded = "not recorded"

// theWrite tells which write matters, and when a reader could see it.
func (e *evidence) theWrite() string {
	op := e.write
	if op == nil {
		row := "there before the run began"
		if e.before == nil {
			row = "not there before the run began"
		}
		return fmt.Sprintf("Row %s was %s. The ledger has no write to it.", e.key, row)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of row %s by %s", capital(string(e.change.Kind)), e.key, op.Client)
	if len(e.change.Set) > 0 {
		fmt.Fprintf(&b, ", to %s", Show(e.change.Set))
	}
	if e.change.Kind == history.Move {
		fmt.Fprintf(&b, ", from key %s to key %s", e.change.Key, e.change.NewKey)
	}
	fmt.Fprintf(&b, ": sent at %s", ms(op.Invoke))
	switch {
	case op.Return == 0:
		b.WriteString(", never answered")
	case op.Outcome == history.OK:
		fmt.Fprintf(&b, ", acknowledged at %s", ms(op.Return))
	default:
		fmt.Fprintf(&b, ", given up at %s with its outcome unknown", ms(op.Return))
	}
	fmt.Fprintf(&b, " (operation %d).", op.ID)
	if e.visible > 0 {
		fmt.Fprintf(&b, " Readers could see it from %s on.", ms(e.visible))
	} else if op.Outcome == history.OK {
		fmt.Fprintf(&b, " When readers first saw it is %s; at the latest, when it was acknowledged.", notRecorded)
	}
	return b.String()
}

// theBinlog tells when and where the write was binlogged.
func (e *evidence) theBinlog() string {
	if e.write == nil {
		return ""
	}
	if !e.event.known() {
		return "When it was written to the binlog is " + notRecorded + "."
	}
	when := "at a time that is " + notRecorded
	if e.event.at > 0 {
		when = "by " + ms(e.event.at)
	}
	s := fmt.Sprintf("The source had written its transaction to the binlog %s: %s.", when, e.event)
	switch {
	case e.event.at == 0 || e.seen() <= e.event.at:
	case e.visible == 0 && e.write.Outcome == history.Unknown:
		s += fmt.Sprintf(" It waited there when its client lost the connection, %s later.", ms(e.seen()-e.event.at))
	default:
		s += fmt.Sprintf(" So for %s it was in the binlog and not yet acknowledged.", ms(e.seen()-e.event.at))
	}
	return s
}

// theStream tells where the subject's stream started, and whether the event
// was in it.
func (e *evidence) theStream() string {
	if e.tooEarly() {
		return fmt.Sprintf("The subject asked for the binlog at %s and attached at %s: only from then on it takes up changes of the table."+
			" The row's event passed to it at %s, before that.", ms(e.stream.at), ms(e.stream.taken), ms(e.passed))
	}
	var b strings.Builder
	switch s := e.stream; {
	case s.file != "":
		fmt.Fprintf(&b, "The subject attached to the binlog at %s, at %s:%d.", ms(s.at), s.file, s.pos)
	case s.gtids != "":
		fmt.Fprintf(&b, "The subject attached to the binlog at %s, behind the transactions %s.", ms(s.at), s.gtids)
	default:
		return "Where the subject attached to the binlog is " + notRecorded + "."
	}
	switch e.streamed() {
	case yes:
		b.WriteString(" The row's event comes after that, so it was in the stream.")
	case no:
		b.WriteString(" The row's event ends at or before that place, so it was not in the stream.")
	case unsure:
		b.WriteString(" Whether the row's event comes before or after that is " + notRecorded + ".")
	}
	if e.passed > 0 {
		fmt.Fprintf(&b, " It passed to the subject at %s.", ms(e.passed))
	}
	return b.String()
}

// theRange tells which keys the copy was going to read.
func (e *evidence) theRange() string {
	x := e.span
	if !x.known {
		return "Which range of keys the subject read is " + notRecorded + "."
	}
	if x.empty {
		return fmt.Sprintf("It read the range of keys to copy by %s, and found the table empty. So no chunk covered key %s.", ms(x.at), e.key)
	}
	s := fmt.Sprintf("It read the range of keys to copy by %s: %s to %s.", ms(x.at), x.min, x.max)
	if x.min == "" {
		s = fmt.Sprintf("It read the end of the range of keys to copy by %s: %s.", ms(x.at), x.max)
	}
	switch e.inRange() {
	case yes:
		return s + fmt.Sprintf(" Key %s is in it.", e.key)
	case no:
		return s + fmt.Sprintf(" Key %s is not in it, so no chunk covered the row.", e.key)
	case unsure:
		return s + fmt.Sprintf(" Whether key %s is in it can't be told from the texts of the keys.", e.key)
	}
	return s
}

// whyLost draws the conclusion, if the record allows it.
func (e *evidence) whyLost() string {
	if e.streamed() == no && e.inRange() == no {
		s := "So neither saw the row: the stream started after its event"
		if e.tooEarly() {
			s = "So neither saw the row: its event came before the subject had attached"
		}
		if e.visible > 0 && e.span.at > 0 && e.span.at < e.seen() {
			s += ", and the range was read before the row was visible."
		} else {
			s += ", and the range ends without it."
		}
		return s
	}
	switch {
	case e.streamed() == no:
		return "So the stream could not bring the row. Whether the copy read it is " + notRecorded + "."
	case e.inRange() == no:
		return "So the copy did not read the row. Why the stream did not bring it is " + notRecorded + "."
	}
	return "Why the row was lost is " + notRecorded + "."
}

// theCopy tells when the chunk with the row was read and written.
func (e *evidence) theCopy() string {
	c := e.copied
	var told []string
	if c.read.known {
		s := fmt.Sprintf("The subject read a chunk %s at %s", c.read.covers(e.key), ms(c.read.sent))
		if c.read.row != "" {
			s += fmt.Sprintf(", when the row was (%s)", c.read.row)
		}
		told = append(told, s+".")
	}
	if c.write.known {
		s := fmt.Sprintf("It sent the write of a chunk %s to the shadow at %s", c.write.covers(e.key), ms(c.write.sent))
		if c.held > 0 {
			s += fmt.Sprintf("; the statement was held from %s to %s", ms(c.held), ms(c.released))
		}
		if c.write.replied > 0 {
			s += fmt.Sprintf("; it was done at %s", ms(c.write.replied))
		}
		told = append(told, s+".")
	}
	if len(told) == 0 {
		return "When the row was copied is " + notRecorded + "."
	}
	return strings.Join(told, " ")
}

// theApply tells when the write's event reached the shadow.
func (e *evidence) theApply() string {
	var told []string
	if e.passed > 0 {
		told = append(told, fmt.Sprintf("The event of the write passed to the subject at %s.", ms(e.passed)))
	}
	if a := e.applied; a.known {
		s := fmt.Sprintf("It was applied to the shadow at %s", ms(a.sent))
		if a.named {
			s += ", by a statement that names the key"
		}
		if a.affected == "0" {
			s += "; that statement changed no row"
		}
		told = append(told, s+".")
	}
	if len(told) == 0 {
		return "When the event was applied is " + notRecorded + "."
	}
	return strings.Join(told, " ")
}

// whyUnseen draws the conclusion for a change that the stream could not bring.
func (e *evidence) whyUnseen() string {
	copied := e.copied.read
	if !copied.known {
		copied = e.copied.write
	}
	read := copied.sent
	if !copied.named || read >= e.seen() {
		return "So the stream could not bring the change. Why the copy did not read the new state is " + notRecorded + "."
	}
	return fmt.Sprintf("So neither saw the change: the stream started after its event, and the copy read the row at %s, before the change was visible.", ms(read))
}

// whyStale draws the conclusion, if the record allows it.
func (e *evidence) whyStale(kind Kind) string {
	end := "and holds the old state."
	if kind == ResurrectedRow {
		end = "and brought the row back."
	}
	c, a := e.copied, e.applied
	late := c.write.named && a.known && e.copyEnd() > a.sent
	if e.write == nil || !late {
		return "Why the row is not up to date is " + notRecorded + "."
	}
	order := "So the event was applied before the chunk was written"
	if a.affected == "0" {
		order += ", to a shadow that had no such row, and did nothing"
	}
	s := order + ". The write of the chunk came last, " + end
	if c.read.known && c.read.sent < e.write.Invoke {
		s = "The chunk had been read before the change. " + s
	}
	return s + " No later event repairs it."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
