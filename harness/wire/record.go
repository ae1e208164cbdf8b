package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rowproof/harness/history"
	"rowproof/harness/step"
)

const (
	maxMarkText = 2 << 10  // bytes of a statement in a mark
	maxLogText  = 16 << 10 // bytes of a statement in the log
)

// recording writes down what passes: marks for the record, lines for the log.
type recording struct {
	recorder *history.Recorder
	lane     string
	tables   []string
	secret   *regexp.Regexp
	fail     func(error)

	mu     sync.Mutex
	log    io.Writer
	broken bool // the log could not be written: said once
}

func newRecording(config Config, fail func(error)) *recording {
	r := &recording{
		recorder: config.Recorder,
		lane:     config.Lane,
		tables:   slices.Clone(config.StreamTables),
		secret:   regexp.MustCompile(`(?i)(identified\s+(?:with\s+\S+\s+)?(?:by|as)\s+|password\s*(?:=|\()?\s*)('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")`),
		fail:     fail,
		log:      config.Log,
	}
	if r.lane == "" {
		r.lane = "subject"
	}
	return r
}

func (r *recording) mark(name string, s step.Step, text string, data map[string]string) {
	if r.recorder != nil {
		r.recorder.Mark(history.Mark{Lane: r.lane, Name: name, Step: string(s), Text: text, Data: data})
	}
}

func commandData(c Command) map[string]string {
	data := map[string]string{
		"conn":   strconv.FormatUint(c.Conn, 10),
		"thread": strconv.FormatUint(uint64(c.ServerThread), 10),
	}
	if c.StepOccurrence > 0 {
		data["occurrence"] = strconv.Itoa(c.StepOccurrence)
	}
	return data
}

func (r *recording) stepSent(c Command) {
	if r.recorder != nil && c.Step != "" {
		r.mark(history.MarkStepSent, c.Step, r.text(c.SQL, maxMarkText), commandData(c))
	}
}

// stepReplied records the reply: rows is a JSON list of rows, each a list of
// values in the order of columns, which is a JSON list of names.
func (r *recording) stepReplied(c Command, reply Reply) {
	if r.recorder == nil || c.Step == "" {
		return
	}
	data := commandData(c)
	data["affected"] = strconv.FormatUint(reply.AffectedRows, 10)
	if reply.Columns != nil {
		data["columns"] = asJSON(reply.Columns)
		data["rows"] = asJSON(reply.Rows)
		data["row_count"] = strconv.FormatUint(reply.RowCount, 10)
	}
	if reply.Err != nil {
		data["error"] = reply.Err.Error()
	}
	r.mark(history.MarkStepReplied, c.Step, "", data)
}

// asJSON encodes lists of strings, which always can be.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "[]"
	}
	return string(data)
}

func (r *recording) held(h Hit) { r.mark(history.MarkHeld, h.Command.Step, hitText(h), hitData(h)) }

func (r *recording) released(h Hit, why string) {
	r.mark(history.MarkReleased, h.Command.Step, why, hitData(h))
}

func hitData(h Hit) map[string]string {
	data := commandData(h.Command)
	data["gate"] = h.Gate
	if h.Event != nil {
		data["file"] = h.Event.File
		data["pos"] = strconv.FormatUint(h.Event.End, 10)
		data["gtid"] = h.Event.GTID
	}
	return data
}

func hitText(h Hit) string {
	switch {
	case h.Event != nil && h.Event.Table != "":
		return fmt.Sprintf("%s event of %s.%s", h.Event.Kind, h.Event.Schema, h.Event.Table)
	case h.Event != nil:
		return fmt.Sprintf("%s event", h.Event.Kind)
	default:
		return ""
	}
}

// streamMarks is what is already recorded of the present transaction of one
// stream. It keeps the record small: a transaction of a million rows is one
// mark for each table and kind of change.
type streamMarks struct {
	last   string
	wanted bool // the transaction changed a table of interest
}

func (r *recording) streamEvent(s *streamMarks, c Command, e Event) {
	if r.recorder == nil || !r.wants(s, e) {
		return
	}
	data := commandData(c)
	data["kind"] = string(e.Kind)
	data["file"] = e.File
	data["start"] = strconv.FormatUint(e.Start, 10)
	data["pos"] = strconv.FormatUint(e.End, 10)
	data["gtid"] = e.GTID
	if e.Table != "" {
		data["table"] = e.Schema + "." + e.Table
	}
	if e.Change != "" {
		data["change"] = string(e.Change)
	}
	r.mark(history.MarkStreamEvent, c.Step, r.text(e.SQL, maxMarkText), data)
}

func (r *recording) wants(s *streamMarks, e Event) bool {
	switch e.Kind {
	case EventGTID:
		*s = streamMarks{}
		return false
	case EventRows, EventPayload:
		table := e.Schema + "." + e.Table
		key := string(e.Change) + " " + table
		if s.last == key || len(r.tables) > 0 && !slices.Contains(r.tables, table) {
			return false
		}
		s.last, s.wanted = key, true
		return true
	case EventXID, EventXAPrepare:
		return s.wanted
	case EventQuery:
		if e.SQL == "COMMIT" {
			return s.wanted
		}
		return e.SQL != "BEGIN" && r.names(e)
	case EventRotate:
		return true
	default:
		return false
	}
}

// names reports whether a statement may concern a table of interest: it names
// one, or was run in its schema.
func (r *recording) names(e Event) bool {
	return len(r.tables) == 0 || slices.ContainsFunc(r.tables, func(t string) bool {
		schema, table, _ := strings.Cut(t, ".")
		return e.Schema == schema || strings.Contains(e.SQL, table)
	})
}

// statement logs a command that is about to be sent, or was swallowed.
func (r *recording) statement(c Command, swallowed bool) {
	switch c.Kind {
	case KindPing, KindFetch, KindLongData, KindClose, KindQuit, KindOther:
		return
	}
	if r.log == nil {
		return
	}
	r.line(history.Statement{
		Time: time.Now(), Conn: c.Conn, Thread: c.ServerThread, Kind: string(c.Kind),
		SQL: r.text(c.SQL, maxLogText), Step: string(c.Step), Swallowed: swallowed,
	})
}

// connectFailed logs that a client's connection found no server.
func (r *recording) connectFailed(id uint64, err error) {
	if r.log == nil {
		return
	}
	r.line(history.Statement{Time: time.Now(), Conn: id, Kind: "connect", Error: err.Error()})
}

func (r *recording) line(v history.Statement) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	err := enc.Encode(v)
	r.mu.Lock()
	if err == nil {
		_, err = r.log.Write(b.Bytes())
	}
	say := err != nil && !r.broken
	r.broken = r.broken || err != nil
	r.mu.Unlock()
	if say {
		r.fail(fmt.Errorf("write statement log: %w", err))
	}
}

// text shortens a statement and strikes out its passwords.
func (r *recording) text(sql string, limit int) string {
	more := ""
	if len(sql) > limit {
		more = fmt.Sprintf("… (%d bytes)", len(sql))
		sql = sql[:limit]
	}
	if lower := strings.ToLower(sql); strings.Contains(lower, "password") || strings.Contains(lower, "identified") {
		sql = r.secret.ReplaceAllString(sql, "$1'***'")
	}
	return strings.ToValidUTF8(sql, "�") + more
}
