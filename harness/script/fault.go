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
	given []string // by what goes on
	named []string // by signals
	ended []ending
	until []ending
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
	for _, e := range l.until {
		if !slices.Contains(l.given, e.label) && !slices.Contains(l.named, e.label) {
			r.problem(e.at, "%s: no signal has the name %q, and no action that goes on has it as its label", e.by, e.label)
		}
	}
	r.checkRows(s.Table)
	return calls
}

func (r *reader) moment(c constructor, block *hcl.Block, s harness.Scenario, l *labels) (call, bool) {
	before := len(r.problems)
	schema := attributes(append(slices.Clone(c.params), c.picks()...)...)
	for _, a := range actions() {
		schema.Blocks = append(schema.Blocks, a.header())
	}
	content := r.content(block.Body, schema)
	var args []argument
	if c.label() != nil {
		args = append(args, r.label(c, block, content)...)
	}
	args = append(args, r.arguments(c, content, s)...)
	var inner []argument
	for _, b := range content.Blocks {
		i := slices.IndexFunc(actions(), func(a constructor) bool { return a.name() == b.Type })
		if a, ok := r.action(actions()[i], b, s, l); ok {
			inner = append(inner, argument{value: reflect.ValueOf(a.action), code: "\n" + a.code, uses: a.uses})
		}
	}
	if len(content.Blocks) == 0 && !c.acts() && len(r.problems) == before {
		r.problem(block.DefRange.Start, "nothing happens %s: want one or more actions in the block", block.Type)
	}
	as, every := content.Attributes["as"], r.flag(content.Attributes["every"])
	if as != nil && !c.stays && !every {
		r.problem(as.NameRange.Start, "as gives a label to what goes on: want every = true beside it")
	}
	label := r.text(as)
	if len(r.problems) > before {
		return call{}, false
	}
	t := reflect.TypeOf(c.fn)
	takes := t.IsVariadic() && t.In(t.NumIn()-1).Elem() == actionType
	if takes {
		args = append(args, inner...)
	}
	made := invoke(c.fn, args)
	made.fault = made.result.Interface().(fault.Fault)
	if c.stays || every {
		if as != nil {
			made.fault = made.fault.As(label)
			made.code += fmt.Sprintf(".As(%q)", label)
		} else {
			label = fault.Plan{made.fault}.Names()[0]
		}
		l.given = append(l.given, label)
	}
	if !takes && len(inner) > 0 {
		then := invoke(made.fault.Then, inner)
		made.fault = then.result.Interface().(fault.Fault)
		made.code += ".Then" + then.code[len(qualified(fault.Fault.Then)):]
		made.uses = append(made.uses, then.uses...)
	}
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
	switch goName(c.fn) {
	case goName(fault.Signal):
		l.named = append(l.named, args[0].value.String())
	case goName(fault.Until):
		l.until = append(l.until, ending{block.Type, args[0].value.String(), block.DefRange.Start})
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
