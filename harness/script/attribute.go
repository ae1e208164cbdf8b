package script

import (
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"
)

// content reads a block by its schema.
func (r *reader) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diagnostics := body.Content(schema)
	var expected []string
	for _, a := range schema.Attributes {
		expected = append(expected, a.Name)
	}
	for _, b := range schema.Blocks {
		expected = append(expected, b.Type+" {…}")
	}
	r.diagnose(diagnostics, expected)
	return content
}

// attributes is the schema of a block that has attributes alone, none of them
// required.
func attributes(names ...string) *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	return schema
}

// value returns an attribute as one of type t; ok is false if it is not there
// or is wrong.
func (r *reader) value(e hcl.Expression, t cty.Type, want string) (value cty.Value, ok bool) {
	value, diagnostics := e.Value(nil)
	r.diagnose(diagnostics, nil)
	if diagnostics.HasErrors() {
		return cty.NilVal, false
	}
	value, err := convert.Convert(value, t)
	if err != nil || value.IsNull() || !value.IsKnown() {
		r.problem(e.Range().Start, "want %s", want)
		return cty.NilVal, false
	}
	return value, true
}

func (r *reader) text(a *hcl.Attribute) string {
	if a == nil {
		return ""
	}
	value, ok := r.value(a.Expr, cty.String, "a text in quotes")
	if !ok {
		return ""
	}
	if strings.TrimSpace(value.AsString()) == "" {
		r.problem(a.Expr.Range().Start, "%s is empty", a.Name)
	}
	return value.AsString()
}

func (r *reader) number(a *hcl.Attribute) int {
	if a == nil {
		return 0
	}
	var n int
	value, ok := r.value(a.Expr, cty.Number, "a whole number")
	if ok && gocty.FromCtyValue(value, &n) != nil {
		r.problem(a.Expr.Range().Start, "want a whole number")
	}
	return n
}

func (r *reader) flag(a *hcl.Attribute) bool {
	if a == nil {
		return false
	}
	value, ok := r.value(a.Expr, cty.Bool, "true or false")
	return ok && value.True()
}

func (r *reader) duration(a *hcl.Attribute) time.Duration {
	const want = `a time such as "200ms", "5s" or "2m"`
	if a == nil {
		return 0
	}
	value, ok := r.value(a.Expr, cty.String, want)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(value.AsString())
	if err != nil || d <= 0 || d > longestLimit {
		r.problem(a.Expr.Range().Start, "got %q, want %s, at most %v", value.AsString(), want, longestLimit)
		return 0
	}
	return d
}

// oneOf returns a text that must be one of a list; otherwise is what stands
// for an attribute that is not there.
func (r *reader) oneOf(a *hcl.Attribute, otherwise string, list ...string) string {
	if a == nil {
		return otherwise
	}
	value, ok := r.value(a.Expr, cty.String, "one of: "+strings.Join(list, ", "))
	if !ok {
		return otherwise
	}
	r.known(a.Expr.Range().Start, a.Name, value.AsString(), list)
	return value.AsString()
}

// known reports whether a text is in a list, and a problem if not.
func (r *reader) known(at hcl.Pos, what, got string, list []string) bool {
	if slices.Contains(list, got) {
		return true
	}
	r.problem(at, "%s is %q, want one of: %s", what, got, strings.Join(list, ", "))
	return false
}

// elements returns the elements of a list, or one expression alone.
func elements(e hcl.Expression) []hcl.Expression {
	if list, diagnostics := hcl.ExprList(e); !diagnostics.HasErrors() {
		return list
	}
	return []hcl.Expression{e}
}

func (r *reader) texts(a *hcl.Attribute) []string {
	if a == nil {
		return nil
	}
	var all []string
	for _, e := range elements(a.Expr) {
		if value, ok := r.value(e, cty.String, "a text in quotes, or several in [ ]"); ok {
			all = append(all, value.AsString())
		}
	}
	return all
}

// sqlTexts returns SQL and where it stands.
func (r *reader) sqlTexts(a *hcl.Attribute) []sqlText {
	var all []sqlText
	for _, e := range elements(a.Expr) {
		if value, ok := r.value(e, cty.String, "SQL as a text in quotes, or several in [ ]"); ok {
			in := sqlText{text: value.AsString(), start: e.Range().Start}
			if rest := string(r.source[in.start.Byte:]); strings.HasPrefix(rest, "<<") {
				in.lines = strings.Split(rest, "\n")[1:]
			}
			all = append(all, in)
		}
	}
	return all
}
