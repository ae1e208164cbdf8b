package script

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rowproof/harness"
	"rowproof/harness/check"
)

// Extension is how the name of a bug report ends.
const Extension = ".rp"

// Report is a bug report as it was read.
type Report struct {
	Scenario harness.Scenario
	table    tableText
	faults   []call // in the order of Scenario.Faults
}

// Read reads the file at path. mutants are the names that control may take.
// The error is Problems if the file can be read and is wrong.
func Read(path string, mutants []string) (*Report, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read bug report: %w", err)
	}
	return Parse(path, source, mutants)
}

// ID returns the ID of the scenario in the file at path. It is the file's
// name, so that it is never that of a scenario in Go.
func ID(path string) string { return filepath.Base(path) }

var idText = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*\.rp$`)

// Parse reads a bug report. path is for its ID and for messages. The error is
// Problems, all that can be found without a server.
func Parse(path string, source []byte, mutants []string) (*Report, error) {
	r := &reader{path: path, source: source, mutants: mutants}
	if !idText.MatchString(ID(path)) {
		r.problem(hcl.Pos{Line: 1, Column: 1}, "the name of the file must be letters, digits, - and _, and end in %s", Extension)
	}
	file, diagnostics := hclsyntax.ParseConfig(source, path, hcl.InitialPos)
	r.diagnose(diagnostics, nil)
	if diagnostics.HasErrors() {
		r.problems.sort()
		return nil, r.problems
	}
	report := r.report(file.Body)
	if len(r.problems) > 0 {
		r.problems.sort()
		return nil, r.problems
	}
	return report, nil
}

// report reads the top of the file.
func (r *reader) report(body hcl.Body) *Report {
	top := r.content(body, fileSchema())
	s := harness.Scenario{ID: ID(r.path), File: r.path, Expect: harness.Completed}
	s.Bug = strings.TrimSpace(r.text(top.Attributes["bug"]))
	s.Expect = r.oneOf(top.Attributes["expect"], s.Expect, harness.Completed, harness.Aborted, harness.Refused)
	s.Guards = check.Kind(r.oneOf(top.Attributes["guards"], "", kindTexts()...))
	s.Control = r.oneOf(top.Attributes["control"], "", r.mutants...)
	s.Limit = r.duration(top.Attributes["limit"])
	s.Zone = r.text(top.Attributes["zone"])
	if _, err := time.LoadLocation(s.Zone); err != nil {
		r.problem(top.Attributes["zone"].Expr.Range().Start, "zone is %q, want the name of a time zone such as Asia/Kathmandu", s.Zone)
	}
	report := &Report{}
	for _, block := range r.singles(top, "cluster", "table", "load") {
		switch block.Type {
		case "cluster":
			s.Cluster = r.cluster(block)
		case "table":
			s.Table, report.table = r.tableOf(block)
		case "load":
			s.Load = r.load(block)
		}
	}
	s.Alter = r.alter(top.Attributes["alter"], s)
	if len(r.problems) == 0 {
		r.checkLoad(top, s)
	}
	// Faults write into the table: without it there is nothing to say of them.
	if s.Table.Name != "" {
		report.faults = r.faults(top, s)
		for _, c := range report.faults {
			s.Faults = append(s.Faults, c.fault)
		}
	}
	report.Scenario = s
	return report
}

func fileSchema() *hcl.BodySchema {
	schema := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{
			{Name: "bug", Required: true}, {Name: "alter", Required: true}, {Name: "guards", Required: true},
			{Name: "expect"}, {Name: "control"}, {Name: "limit"}, {Name: "zone"},
		},
		Blocks: []hcl.BlockHeaderSchema{{Type: "cluster"}, {Type: "table"}, {Type: "load"}},
	}
	for _, m := range moments() {
		schema.Blocks = append(schema.Blocks, m.header())
	}
	return schema
}

// singles returns the blocks of these types, and a problem for each that is
// there twice, and for a missing table.
func (r *reader) singles(top *hcl.BodyContent, types ...string) []*hcl.Block {
	var found []*hcl.Block
	for _, name := range types {
		blocks := top.Blocks.OfType(name)
		if len(blocks) == 0 && name == "table" {
			r.problem(top.MissingItemRange.Start, "a table block is missing: it holds CREATE TABLE in create, and INSERTs in seed")
		}
		for i, b := range blocks {
			if i > 0 {
				r.problem(b.DefRange.Start, "a second %s block: want one", name)
				continue
			}
			found = append(found, b)
		}
	}
	return found
}

// longestLimit keeps a forgotten run from holding a machine for a day.
const longestLimit = 6 * time.Hour
