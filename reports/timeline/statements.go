package timeline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rowproof/harness/history"
)

// statementsFile, in a run directory, holds what the subject sent.
const statementsFile = "statements.jsonl"

// Sent is a command that the subject sent over one of its connections.
type Sent struct {
	Time   time.Time `json:"time"`
	Conn   uint64    `json:"conn"`   // the proxy's number of the connection
	Thread uint32    `json:"thread"` // the server's number of it
	Kind   string    `json:"kind"`   // query, prepare, execute, dump, connect, …
	SQL    string    `json:"sql"`
	Step   string    `json:"step"` // "" where the phrasebook knows none
	Error  string    `json:"error"`
}

// Load reads a run directory: the record and what the subject sent. The error
// wraps fs.ErrNotExist if the run ended before all of it was stored.
func Load(dir string) (*history.Record, []Sent, error) {
	record, err := history.Load(dir)
	if err != nil {
		return nil, nil, err
	}
	statements, err := loadStatements(dir)
	return record, statements, err
}

// loadStatements reads what the subject of a run sent; nothing, if that was
// not stored.
func loadStatements(dir string) (all []Sent, err error) {
	f, err := os.Open(filepath.Join(dir, statementsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	defer f.Close()
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var s Sent
		switch err := dec.Decode(&s); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the run may have died while it wrote
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read statement %d of %s: %w", len(all)+1, f.Name(), err)
		}
		all = append(all, s)
	}
}

// addStatements adds the statements that belong to no step.
func (b *builder) addStatements(lanes map[string]int, statements []Sent) {
	for _, s := range statements {
		if s.Step != "" {
			continue
		}
		label := s.Kind
		if verb, _, _ := strings.Cut(strings.TrimSpace(s.SQL), " "); verb != "" && s.Kind == "query" {
			label = verb
		}
		at := b.moment(s)
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
func logged(all []Sent) map[string][]Sent {
	log := map[string][]Sent{}
	for _, s := range all {
		if s.Step != "" {
			id := strconv.FormatUint(s.Conn, 10) + "/" + s.Step
			log[id] = append(log[id], s)
		}
	}
	return log
}
