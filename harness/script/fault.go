package script

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"rowproof/harness"
	"rowproof/harness/fault"
)

// call is one moment or action, as a value and as Go source.
type call struct {
	fault  fault.Fault  // of a moment
	action fault.Action // of an action
	code   string
	uses   []string // packages that the code names
}

// labels is what a file's actions go by, for end blocks.
type labels struct {
	given []string
	ended []ending
}

type ending struct {
	by    string // the block
	label string
	at    hcl.Pos
}

// faults reads all moments and what happens then, in the order of the file.
func (r *reader) faults(top *hcl.BodyContent, s harness.Scenario) []call {
	var calls []call
	var l labels
	for _, block := range top.Blocks {
		i := slices.IndexFunc(moments(), func(c constructor) bool { return c.name() == block.Type })
		if i < 0 {
			continue
		}
		if c, ok := r.moment(moments()[i], block, s, &l); ok {
			calls = append(calls, c)
		}
	}
	for _, e := range l.ended {
		if !slices.Contains(l.given, e.label) {
			r.problem(e.at, "%s: no action that goes on has the label %q", e.by, e.label)
		}
	}
	r.checkRows(s.Table)
	return calls
}

func (r *reader) moment(c constructor, block *hcl.Block, s harness.Scenario, l *labels) (call, bool) {
	before := len(r.problems)
	schema := attributes(c.params...)
	if c.nth != nil {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: "nth"})
	}
	for _, a := range actions() {
		schema.Blocks = append(schema.Blocks, a.header())
	}
	content := r.content(block.Body, schema)
	fn := c.fn
	var args []argument
	if nth := content.Attributes["nth"]; nth != nil {
		n := r.number(nth)
		if n < 1 {
			r.problem(nth.Expr.Range().Start, "nth is %d, want 1 or more", n)
		}
		fn, args = c.nth, append(args, plain(n))
	}
	if c.labelled() {
		if v, ok := r.step(block.LabelRanges[0].Start, block.Labels[0]); ok {
			args = append(args, v)
		}
	}
	args = append(args, r.arguments(c, content, s)...)
	var inner []argument
	for _, b := range content.Blocks {
		i := slices.IndexFunc(actions(), func(a constructor) bool { return a.name() == b.Type })
		if a, ok := r.action(actions()[i], b, s, l); ok {
			inner = append(inner, argument{value: reflect.ValueOf(a.action), code: "\n" + a.code, uses: a.uses})
		}
	}
	if len(content.Blocks) == 0 && len(r.problems) == before {
		r.problem(block.DefRange.Start, "nothing happens %s: want one or more actions in the block", block.Type)
	}
	if len(r.problems) > before {
		return call{}, false
	}
	if !c.then {
		made := invoke(fn, append(args, inner...))
		made.fault = made.result.Interface().(fault.Fault)
		return made.call, true
	}
	made := invoke(fn, args)
	then := invoke(made.result.Interface().(fault.Fault).Then, inner)
	made.fault = then.result.Interface().(fault.Fault)
	made.code += ".Then" + then.code[len(qualified(fault.Fault.Then)):]
	made.uses = append(made.uses, then.uses...)
	return made.call, true
}

func (r *reader) action(c constructor, block *hcl.Block, s harness.Scenario, l *labels) (call, bool) {
	before := len(r.problems)
	content := r.content(block.Body, attributes(append(slices.Clone(c.params), "as")...))
	if lack := c.needs.missing(s.Cluster); lack != "" {
		r.problem(block.DefRange.Start, "%s needs %s in the cluster block", block.Type, lack)
	}
	args := r.arguments(c, content, s)
	if len(r.problems) > before {
		return call{}, false
	}
	made := invoke(c.fn, args)
	made.action = made.result.Interface().(fault.Action)
	// A label that the action does not take for itself is another's.
	if i := slices.Index(c.params, "label"); i >= 0 && made.action.Label == "" {
		l.ended = append(l.ended, ending{block.Type, args[i].value.String(), block.DefRange.Start})
	}
	as := content.Attributes["as"]
	switch {
	case as != nil && made.action.Label == "":
		r.problem(as.NameRange.Start, "as gives a label to an action that goes on, and %s is over at once", block.Type)
		return call{}, false
	case as != nil:
		label := r.text(as)
		made.action = made.action.As(label)
		made.code += fmt.Sprintf(".As(%q)", label)
	}
	if made.action.Label != "" {
		l.given = append(l.given, made.action.Label)
	}
	return made.call, len(r.problems) == before
}

// invoked is a call that was made.
type invoked struct {
	call
	result reflect.Value
}

// invoke calls a function of package fault, and writes that as Go source.
func invoke(fn any, args []argument) invoked {
	in := make([]reflect.Value, len(args))
	made := invoked{call: call{code: qualified(fn) + "(", uses: []string{"rowproof/harness/fault"}}}
	for i, a := range args {
		in[i] = a.value
		if i > 0 {
			made.code += ", "
		}
		made.code += a.code
		made.uses = append(made.uses, a.uses...)
	}
	made.code += ")"
	made.result = reflect.ValueOf(fn).Call(in)[0]
	return made
}

func qualified(fn any) string { return "fault." + goName(fn) }
