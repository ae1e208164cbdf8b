package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"vitess.io/vitess/go/vt/sqlparser"
)

// Problem is one thing that is wrong in a file.
type Problem struct {
	Path         string
	Line, Column int
	Text         string // what is wrong and what was expected
}

func (p Problem) Error() string { return fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Text) }

// Problems is all that is wrong in a file, in the order of its lines.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// reader reads one file and collects what is wrong in it.
type reader struct {
	path     string
	source   []byte
	mutants  []string
	changes  []placedChange // that faults make
	problems Problems
}

func (r *reader) problem(at hcl.Pos, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: r.path, Line: at.Line, Column: at.Column, Text: fmt.Sprintf(format, args...)})
}

// diagnose takes over what HCL found. expected is what may stand in the block.
func (r *reader) diagnose(diagnostics hcl.Diagnostics, expected []string) {
	for _, d := range diagnostics {
		text := strings.Join(strings.Fields(strings.TrimSuffix(d.Detail, ".")), " ")
		switch {
		case d.Summary == "Missing required argument":
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "The argument \""), "\"")
			text = name + " is missing: want " + name + " = …"
		case strings.HasPrefix(d.Summary, "Missing ") && strings.Contains(d.Summary, " for "):
			label, block, _ := strings.Cut(strings.TrimPrefix(d.Summary, "Missing "), " for ")
			text = fmt.Sprintf("the %s is missing: want %s %q {…}", label, block, strings.ToUpper(label))
		case d.Summary == "Variables not allowed":
			text = "want a text in quotes, a number, true or false"
		case strings.HasPrefix(d.Summary, "Unsupported") && !strings.Contains(text, "Did you mean") && len(expected) > 0:
			text += "; expected here: " + strings.Join(expected, ", ")
		}
		at := hcl.Pos{Line: 1, Column: 1}
		if d.Subject != nil {
			at = d.Subject.Start
		}
		r.problem(at, "%s", text)
	}
}

// sql names a problem in a statement that begins at offset of a text.
func (r *reader) sql(in sqlText, offset int, err error) {
	var syntax sqlparser.PositionedErr
	if errors.As(err, &syntax) {
		statement := strings.TrimRight(in.text[offset:], " \t\r\n;")
		offset += min(max(syntax.Pos-1-len(syntax.Near), 0), len(statement))
		text := fmt.Sprintf("%s near %q", syntax.Err, syntax.Near)
		if syntax.Near == "" {
			text = syntax.Err + " at the end of the statement"
		}
		err = errors.New(text)
	}
	r.problem(in.at(offset), "%s", err)
}

// sqlText is SQL in a file.
type sqlText struct {
	text  string
	start hcl.Pos
	lines []string // of the file, from the one behind start, if the text is a heredoc
}

// at returns the place of an offset of the text in the file.
func (s sqlText) at(offset int) hcl.Pos {
	if s.lines == nil {
		return s.start
	}
	before := s.text[:min(offset, len(s.text))]
	n := strings.Count(before, "\n")
	begin := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(s.text[begin:], "\n")
	// A heredoc may have lost the spaces that all its lines begin with.
	lost := max(strings.Index(s.lines[n], line), 0)
	return hcl.Pos{Line: s.start.Line + 1 + n, Column: lost + len(before) - begin + 1}
}
