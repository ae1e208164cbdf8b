package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Files of a run directory. The subject's log, its statements and the verdict
// lie beside them; Save and Load leave those alone.
const (
	RunFile        = "run.json"
	OperationsFile = "operations.jsonl"
	MarksFile      = "marks.jsonl"
	ObservedFile   = "observed.json"
	SubjectLogFile = "subject.log"
	SecondLogFile  = "subject-2.log"    // of a second run beside the first
	StatementsFile = "statements.jsonl" // a Statement a line
	VerdictFile    = "verdict.json"
)

// Save writes the record to dir, which is made if it is missing.
func Save(dir string, r *Record) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make run directory: %w", err)
	}
	r.Format = FormatVersion
	if err := WriteJSON(filepath.Join(dir, RunFile), r); err != nil {
		return err
	}
	if err := WriteJSON(filepath.Join(dir, ObservedFile), r.Observed); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(dir, OperationsFile), r.Ops); err != nil {
		return err
	}
	return writeLines(filepath.Join(dir, MarksFile), r.Marks)
}

// Load reads a run directory that Save wrote.
func Load(dir string) (*Record, error) {
	r := new(Record)
	if err := ReadJSON(filepath.Join(dir, RunFile), r); err != nil {
		return nil, err
	}
	if r.Format != FormatVersion {
		return nil, fmt.Errorf("read %s: run format %d, this version reads %d", dir, r.Format, FormatVersion)
	}
	if err := ReadJSON(filepath.Join(dir, ObservedFile), &r.Observed); err != nil {
		return nil, err
	}
	var err error
	if r.Ops, err = readLines[Op](filepath.Join(dir, OperationsFile)); err != nil {
		return nil, err
	}
	if r.Marks, err = readLines[Mark](filepath.Join(dir, MarksFile)); err != nil {
		return nil, err
	}
	return r, nil
}

// WriteJSON writes v as indented JSON.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	return nil
}

// ReadJSON reads one JSON value.
func ReadJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read run file: %w", err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	return nil
}

// LoadStatements reads the statements that the subject of a run sent.
func LoadStatements(dir string) ([]Statement, error) {
	return readLines[Statement](filepath.Join(dir, StatementsFile))
}

func writeLines[T any](path string, items []T) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write run file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for i := range items {
		if err := enc.Encode(items[i]); err != nil {
			return fmt.Errorf("encode %s: %w", path, err)
		}
	}
	return w.Flush()
}

func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read run file: %w", err)
	}
	defer f.Close()
	var items []T
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var item T
		switch err := dec.Decode(&item); {
		case errors.Is(err, io.EOF):
			return items, nil
		case err != nil:
			return nil, fmt.Errorf("decode %s, entry %d: %w", path, len(items)+1, err)
		}
		items = append(items, item)
	}
}
