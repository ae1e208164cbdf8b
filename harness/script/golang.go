package script

import (
	"bytes"
	"fmt"
	"go/format"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Go returns the report as a Go test for a package of scenarios: a file whose
// suite is a *harness.Suite.
func (r *Report) Go() ([]byte, error) {
	s := r.Scenario
	id := strings.TrimSuffix(s.ID, Extension)
	imports := map[string]bool{"testing": true, "rowproof/fixtures": true, "rowproof/harness": true, "rowproof/harness/check": true}
	var b strings.Builder
	fmt.Fprintf(&b, "func Test%s(t *testing.T) {\n", camel(id))
	fmt.Fprintf(&b, "table := fixtures.MustCreate(%s", quote(r.table.create))
	for _, seed := range r.table.seeds {
		fmt.Fprintf(&b, ",\n%s", quote(seed))
	}
	b.WriteString(")")
	if s.Table.IsNumbered() {
		fmt.Fprintf(&b, ".Numbered(%d)", s.Table.Rows)
	}
	b.WriteString("\nsuite.Run(t, harness.Scenario{\n")
	field := func(name, code string) { fmt.Fprintf(&b, "%s: %s,\n", name, code) }
	field("ID", strconv.Quote(id))
	field("Bug", prose(s.Bug))
	if cluster, uses := composite(reflect.ValueOf(s.Cluster)); uses {
		imports["rowproof/harness/topology"] = true
		field("Cluster", cluster)
	}
	field("Table", "table")
	field("Alter", quote(s.Alter))
	if load, uses := composite(reflect.ValueOf(s.Load)); uses {
		imports["rowproof/harness/workload"] = true
		field("Load", load)
	}
	if s.Limit > 0 {
		imports["time"] = true
		field("Limit", durationCode(s.Limit))
	}
	if s.Zone != "" {
		field("Zone", strconv.Quote(s.Zone))
	}
	if len(r.faults) > 0 {
		b.WriteString("\nFaults: fault.Plan{\n")
		for _, c := range r.faults {
			b.WriteString(c.code + ",\n")
			for _, path := range c.uses {
				imports[path] = true
			}
		}
		b.WriteString("},\n")
	}
	b.WriteString("\n")
	field("Expect", "harness."+camel(s.Expect))
	field("Guards", "check."+r.kind().goName)
	if s.Control == "" {
		b.WriteString("Control: \"\", // name a mutant that shows the bug: without one, nothing shows that the test can fail\n")
	} else {
		field("Control", strconv.Quote(s.Control))
	}
	b.WriteString("})\n}\n")
	return source(imports, b.String())
}

func (r *Report) kind() kind {
	i := slices.IndexFunc(kinds(), func(k kind) bool { return k.Kind == r.Scenario.Guards })
	return kinds()[i]
}

func source(imports map[string]bool, body string) ([]byte, error) {
	var std, own []string
	for path := range imports {
		if strings.HasPrefix(path, "rowproof/") {
			own = append(own, strconv.Quote(path))
		} else {
			std = append(std, strconv.Quote(path))
		}
	}
	slices.Sort(std)
	slices.Sort(own)
	text := "package scenarios_test\n\nimport (\n" + strings.Join(std, "\n") + "\n\n" + strings.Join(own, "\n") + "\n)\n\n" + body
	code, err := format.Source([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("format Go source: %w\n%s", err, text)
	}
	return bytes.TrimLeft(code, "\n"), nil
}

// quote writes a text as Go: as it is where Go allows that, and otherwise line
// by line.
func quote(text string) string {
	if !strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	if strconv.CanBackquote(strings.ReplaceAll(text, "\n", "")) {
		return "`" + text + "`"
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strconv.Quote(line))
	}
	return strings.Join(lines, " +\n")
}

// proseWidth is where the lines of a comment-like text break.
const proseWidth = 100

// prose writes a text whose line breaks mean nothing.
func prose(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+len(word) >= proseWidth {
			lines = append(lines, strconv.Quote(line))
			line = ""
		}
		line += word + " "
	}
	lines = append(lines, strconv.Quote(strings.TrimSpace(line)))
	return strings.Join(lines, " +\n")
}

// composite writes a struct of plain values as Go, and reports whether any
// field is set.
func composite(v reflect.Value) (code string, set bool) {
	var fields []string
	for i := range v.NumField() {
		f := v.Field(i)
		if f.IsZero() {
			continue
		}
		fields = append(fields, v.Type().Field(i).Name+": "+literal(f))
	}
	return v.Type().String() + "{" + strings.Join(fields, ", ") + "}", len(fields) > 0
}

func literal(v reflect.Value) string {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return durationCode(time.Duration(v.Int()))
	case v.Kind() == reflect.Struct:
		code, _ := composite(v)
		return code
	}
	return fmt.Sprintf("%#v", v.Interface())
}
