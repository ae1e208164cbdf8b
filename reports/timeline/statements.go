package timeline

import (
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

// Load reads a run directory: the record and what the subject sent. The error
// wraps fs.ErrNotExist if the run ended before all of it was stored.
func Load(dir string) (*history.Record, []history.Statement, error) {
	record, err := history.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	statements, err := history.LoadStatements(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF) {
		return record, nil, nil // the marks tell the most of it
	}
	return record, statements, err
}

// addStatements adds the statements that belong to no step.
func (b *builder) addStatements(lanes map[string]int, statements []history.Statement) {
	for _, s := range statements {
		if s.Step != "" {
			continue
		}
		label := s.Kind
		if verb, _, _ := strings.Cut(strings.TrimSpace(s.SQL), " "); verb != "" && s.Kind == "query" {
			label = verb
		}
		at := b.since(s.Time)
		b.add(Item{
			Lane: lanes[strconv.FormatUint(s.Conn, 10)], From: at, To: at, Kind: Statement, Label: label, Text: s.SQL, Note: s.Error,
			Row: b.row.inStatement(s.SQL, ""),
		})
	}
}

// cut matches the end of a statement that is not whole.
var cut = regexp.MustCompile(`… \(\d+ bytes\)$`)

// whole returns the text of a mark's statement. A mark holds the beginning of
// a long one, the log more of it, in the same order.
func (b *builder) whole(m history.Mark) string {
	at := cut.FindStringIndex(m.Text)
	if at == nil {
		return m.Text
	}
	id := m.Data["conn"] + "/" + m.Step
	begin := strings.TrimSuffix(m.Text[:at[0]], "\ufffd")
	for n, s := range b.log[id] {
		if strings.HasPrefix(s.SQL, begin) {
			b.log[id] = b.log[id][n+1:]
			return s.SQL
		}
	}
	return m.Text
}

// logged returns the statements of steps by connection and step.
func logged(all []history.Statement) map[string][]history.Statement {
	log := map[string][]history.Statement{}
	for _, s := range all {
		if s.Step != "" {
			id := strconv.FormatUint(s.Conn, 10) + "/" + s.Step
			log[id] = append(log[id], s)
		}
	}
	return log
}
