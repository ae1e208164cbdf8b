// Package schema_test checks the published schemas of the JSON files against
// what is written: results.json in a suite's directory, and all files of a
// run directory.
package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rowproof/fixtures/histories"
	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/reports"
)

// storedEnv names a directory of stored runs that are checked too.
const storedEnv = "ROWPROOF_STORED"

// lines are the files with one document a line.
var lines = map[string]string{
	history.OperationsFile: "operation", history.MarksFile: "mark", history.StatementsFile: "statement",
}

// documents are the files with one document.
var documents = map[string]string{
	history.RunFile: "run", history.VerdictFile: "verdict", history.ObservedFile: "observed", reports.ResultsFile: "results",
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks all files below a directory that have a schema, and returns
// how many documents there were of each.
func validate(t *testing.T, dir string) map[string]int {
	t.Helper()
	count := map[string]int{}
	schemas := map[string]*jsonschema.Schema{}
	for _, files := range []map[string]string{lines, documents} {
		for file, name := range files {
			schemas[file] = compile(t, name)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		s := schemas[filepath.Base(path)]
		if err != nil || s == nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for dec := json.NewDecoder(bytes.NewReader(data)); ; {
			var raw json.RawMessage
			if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				return err
			}
			if err := s.Validate(v); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			count[filepath.Base(path)]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestSchemas(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		suite := t.TempDir()
		for _, c := range histories.Bad() {
			store(t, suite, c.Record)
		}
		for _, r := range histories.Good() {
			store(t, suite, r)
		}
		store(t, suite, histories.Made(100))
		runs, err := reports.Load(suite)
		if err != nil {
			t.Fatal(err)
		}
		if err := reports.WriteFiles(suite, runs); err != nil {
			t.Fatal(err)
		}
		count := validate(t, suite)
		for _, files := range []map[string]string{lines, documents} {
			for file := range files {
				if count[file] == 0 && file != history.StatementsFile {
					t.Errorf("no %s was checked", file)
				}
			}
		}
	})

	t.Run("OK/HandWritten", func(t *testing.T) {
		if count := validate(t, "../testdata/suite"); count[history.RunFile] == 0 {
			t.Error("no run was checked")
		}
	})

	// Each document has one fault, and the error tells no other.
	broken := map[string]struct{ schema, document, want string }{
		"OtherFormat": {"run", `{"format":2,"scenario":"s","subject":"osc","verify":false,"control":false,"seed":1,"started":"2026-03-01T12:00:00Z","bug":"","repeat":"","table":{"schema":"s","name":"t","key":["id"],"alter":"","renames":null,"initial":null,"rows":0},"expect":"completed","guards":"lost row","servers":null,"planned":null,"exit":{"outcome":"completed","code":0,"at":1}}`,
			"at '/format': value must be 1"},
		"NoVerdict": {"verdict", `{"judgement":{"scenario":"s","subject":"osc","results":[]},"control":false,"expected":true,"seconds":1}`,
			"at '/judgement': missing property 'verdict'"},
		"NothingKnown": {"verdict", `{"judgement":{"scenario":"s","subject":"tool","verdict":"Invalid","results":[]},"control":false,"known":{},"expected":true,"seconds":1}`,
			"at '/known': missing properties 'scenario', 'subject', 'version', 'verdict', 'date'"},
		"UnknownKnown": {"verdict", `{"judgement":{"scenario":"s","subject":"tool","verdict":"Invalid","results":[]},"control":false,"known":{"scenario":"s","subject":"tool","version":"1","verdict":"Invalid","date":"2026-03-01","colour":"red"},"expected":true,"seconds":1}`,
			"at '/known': additional properties 'colour' not allowed"},
		"UnknownProperty": {"mark", `{"at":1,"lane":"fault","name":"held","colour":"red"}`,
			"at '': additional properties 'colour' not allowed"},
		"NegativeTime": {"mark", `{"at":-1,"lane":"fault","name":"held"}`,
			"at '/at': minimum: got -1, want 0"},
		"Outcome": {"operation", `{"id":1,"client":"c","kind":"read","sql":null,"invoke":1,"return":2,"outcome":"perhaps"}`,
			"at '/outcome': value must be one of 'ok', 'failed', 'unknown'"},
		"NoTime": {"statement", `{"time":"yesterday","conn":1,"kind":"query"}`,
			"at '/time': 'yesterday' is not valid date-time: less than 20 characters long"},
		"NoBytes": {"observed", `{"comparison":{"done":true,"against":"","rows":1,"final_rows":1,"chunks":1,"diffs":[{"key":"1","want":{},"got":{},"want_hex":{"a":"xy"}}],"truncated":false},"schema":null,"replicas":null,"left_behind":null,"final":null,"binlog":null}`,
			"at '/comparison/diffs/0/want_hex/a': 'xy' does not match pattern '^(NULL|([0-9A-Fa-f]{2})*)$'"},
		"NoSeed": {"results", `{"format":1,"runs":1,"expected":1,"not_applicable":0,"counts":[],"results":[{"scenario":"s","subject":"osc","verify":false,"control":false,"number":1,"verdict":"Valid","expected":true,"seconds":1,"dir":"d"}]}`,
			"at '/results/0': missing property 'seed'"},
	}
	for name, tt := range broken {
		t.Run("Err"+name, func(t *testing.T) {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.document))
			if err != nil {
				t.Fatal(err)
			}
			err = compile(t, tt.schema).Validate(v)
			if err == nil {
				t.Fatalf("%s: got no error", tt.document)
			}
			if _, got, _ := strings.Cut(err.Error(), "\n- "); got != tt.want {
				t.Errorf("%s: got %q, want %q", tt.document, got, tt.want)
			}
		})
	}
}

// Stored runs, such as those of all scenarios.
func TestStoredSchemas(t *testing.T) {
	dir := os.Getenv(storedEnv)
	if dir == "" {
		t.Skip(storedEnv + " is not set")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := validate(t, real)
	t.Logf("checked: %v", count)
	if count[history.RunFile] == 0 || count[reports.ResultsFile] == 0 || count[history.StatementsFile] == 0 {
		t.Errorf("checked: got %v, want runs, results and statements", count)
	}
}

func store(t *testing.T, suite string, r *history.Record) {
	t.Helper()
	dir, err := history.NewRunDir(suite, r.Scenario, r.Subject, r.Verify)
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Save(dir, r); err != nil {
		t.Fatal(err)
	}
	if err := check.SaveConclusion(dir, check.Conclude(r, check.Judge(r), nil, 1.5)); err != nil {
		t.Fatal(err)
	}
}
