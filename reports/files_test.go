package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"rowproof/reports"
)

func TestWriteFiles(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		dir := copySuite(t)
		if err := reports.WriteFiles(dir, load(t, dir)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{reports.ResultsFile, reports.JUnitFile} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden", bytes.ReplaceAll(data, []byte(dir), []byte("SUITE")))
		}
	})

	t.Run("ErrNoDirectory", func(t *testing.T) {
		if err := reports.WriteFiles(filepath.Join(t.TempDir(), "absent"), nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("write: got %v, want %v", err, os.ErrNotExist)
		}
	})
}

// element is what the Jenkins and the surefire schema both allow for one
// element: its attributes, those that must be there, and its children.
type element struct {
	attributes []string
	required   []string
	children   []string
}

func junitSchema() map[string]element {
	return map[string]element{
		"testsuites": {
			attributes: []string{"name", "time", "tests", "failures", "errors", "disabled"},
			children:   []string{"testsuite"},
		},
		"testsuite": {
			attributes: []string{"name", "time", "tests", "failures", "errors", "skipped", "timestamp", "hostname", "id", "package"},
			required:   []string{"name", "time", "tests", "failures", "errors", "skipped"},
			children:   []string{"properties", "testcase", "system-out", "system-err"},
		},
		"properties": {children: []string{"property"}},
		"property":   {attributes: []string{"name", "value"}, required: []string{"name", "value"}},
		"testcase": {
			attributes: []string{"name", "classname", "time"},
			required:   []string{"name", "classname", "time"},
			children:   []string{"failure", "error", "skipped", "system-out", "system-err"},
		},
		"failure":    {attributes: []string{"message", "type"}, required: []string{"type"}},
		"error":      {attributes: []string{"message", "type"}, required: []string{"type"}},
		"skipped":    {attributes: []string{"message"}},
		"system-out": {},
	}
}

// checkJUnit checks a file against both schemas and returns how many there
// are of each element.
func checkJUnit(t *testing.T, file io.Reader) map[string]int {
	t.Helper()
	formats := map[string]*regexp.Regexp{
		"time":      regexp.MustCompile(`^\d+\.\d{3}$`),
		"tests":     regexp.MustCompile(`^\d+$`),
		"failures":  regexp.MustCompile(`^\d+$`),
		"errors":    regexp.MustCompile(`^\d+$`),
		"timestamp": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`),
	}
	schema, count, path := junitSchema(), map[string]int{}, []string{}
	for dec := xml.NewDecoder(file); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			count[name]++
			if len(path) > 0 && !slices.Contains(schema[path[len(path)-1]].children, name) {
				t.Errorf("%v: <%s> is not allowed here", path, name)
			}
			path = append(path, name)
			var got []string
			for _, a := range token.Attr {
				got = append(got, a.Name.Local)
				if !slices.Contains(schema[name].attributes, a.Name.Local) {
					t.Errorf("%v: attribute %s is not allowed", path, a.Name.Local)
				}
				if f := formats[a.Name.Local]; f != nil && !f.MatchString(a.Value) {
					t.Errorf("%v: %s=%q does not match %s", path, a.Name.Local, a.Value, f)
				}
			}
			for _, r := range schema[name].required {
				if !slices.Contains(got, r) {
					t.Errorf("%v: attribute %s is missing", path, r)
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

func TestJUnitStructure(t *testing.T) {
	var b bytes.Buffer
	if err := reports.WriteJUnit(&b, load(t, suite)); err != nil {
		t.Fatal(err)
	}
	count := checkJUnit(t, &b)
	for name, want := range map[string]int{"testsuites": 1, "testsuite": 3, "testcase": 11, "failure": 2, "error": 2, "skipped": 1} {
		if count[name] != want {
			t.Errorf("<%s>: got %d, want %d", name, count[name], want)
		}
	}
}

// storedEnv names a directory of stored runs whose files are checked too.
const storedEnv = "ROWPROOF_STORED"

func TestStoredJUnit(t *testing.T) {
	dir := os.Getenv(storedEnv)
	if dir == "" {
		t.Skip(storedEnv + " is not set")
	}
	f, err := os.Open(filepath.Join(dir, reports.JUnitFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := checkJUnit(t, f)["testcase"], len(load(t, dir)); got != want {
		t.Errorf("test cases: got %d, want %d", got, want)
	}
}
