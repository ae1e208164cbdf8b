package script

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"rowproof/harness"
	"rowproof/harness/fault"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// word is a constant of package fault and its name in Go.
type word struct {
	value  any
	goName string
}

func (w word) text() string { return reflect.ValueOf(w.value).String() }

// words are what a parameter of a named type can be.
func words(t reflect.Type) []word {
	if t == roleType {
		return []word{{fault.Original, "Original"}, {fault.Shadow, "Shadow"}, {fault.Old, "Old"}}
	}
	return []word{{fault.Source, "Source"}, {fault.Replicas, "Replicas"}}
}

func wordTexts(t reflect.Type) []string {
	var texts []string
	for _, w := range words(t) {
		texts = append(texts, w.text())
	}
	return texts
}

func (r *reader) word(t reflect.Type, a *hcl.Attribute, s harness.Scenario) (argument, bool) {
	text := r.oneOf(a, "", wordTexts(t)...)
	for _, w := range words(t) {
		if w.text() != text {
			continue
		}
		if w.value == fault.Replicas && s.Cluster.Replicas == 0 {
			r.problem(a.Expr.Range().Start, "%s is %q: want replicas = 1 or more in the cluster block", a.Name, text)
		}
		return argument{value: reflect.ValueOf(w.value), code: "fault." + w.goName}, true
	}
	return argument{}, false
}

// sessionKinds are the sessions that need no more than a name.
func sessionKinds() []func() fault.Sessions {
	return []func() fault.Sessions{
		fault.SubjectStreams, fault.ReplicaStreams, fault.ApplicationSessions, fault.Appliers, fault.Workers,
	}
}

func sessionNames() []string {
	var names []string
	for _, kind := range sessionKinds() {
		names = append(names, snake(goName(kind)))
	}
	return names
}

// sessions reads which sessions of the servers are meant.
func (r *reader) sessions(a *hcl.Attribute, s harness.Scenario) (argument, bool) {
	text := r.text(a)
	at := a.Expr.Range().Start
	how, rest, _ := strings.Cut(text, " ")
	switch how {
	case "":
		return argument{}, false
	case "sending", "sent":
		arg, ok := r.step(at, rest)
		if !ok {
			return argument{}, false
		}
		of := map[string]func(step.Step) fault.Sessions{"sending": fault.Sending, "sent": fault.Sent}[how]
		return argument{reflect.ValueOf(of(step.Step(rest))), qualified(of) + "(" + arg.code + ")", arg.uses}, true
	case "writing":
		w, err := workload.Statement(s.Table, rest)
		if err != nil {
			r.problem(at, "%v", err)
			return argument{}, false
		}
		code := "fault.Writing(workload.MustStatement(table, " + quote(w.SQL) + "))"
		return argument{reflect.ValueOf(fault.Writing(w)), code, []string{"rowproof/harness/workload"}}, true
	}
	i := slices.Index(sessionNames(), text)
	if i < 0 {
		r.problem(at, "got %q, want %s", text, wanted(sessionsType))
		return argument{}, false
	}
	kind := sessionKinds()[i]
	return argument{value: reflect.ValueOf(kind()), code: qualified(kind) + "()"}, true
}

func (r *reader) settings(a *hcl.Attribute) fault.Settings {
	settings := fault.Settings{}
	value, ok := r.value(a.Expr, cty.Map(cty.String), wanted(settingsType))
	if !ok {
		return settings
	}
	for name, v := range value.AsValueMap() {
		if v.IsNull() {
			r.problem(a.Expr.Range().Start, "want %s", wanted(settingsType))
			continue
		}
		settings[name] = v.AsString()
	}
	return settings
}

// step reads a step's name.
func (r *reader) step(at hcl.Pos, name string) (argument, bool) {
	var names []string
	for _, s := range step.All() {
		names = append(names, string(s))
	}
	if !r.known(at, "the step", name, names) {
		return argument{}, false
	}
	return argument{reflect.ValueOf(step.Step(name)), "step." + camel(name), []string{"rowproof/harness/step"}}, true
}

// networkPath reads a network path to the source.
func (r *reader) networkPath(a *hcl.Attribute, s harness.Scenario) (argument, bool) {
	name := r.text(a)
	switch name {
	case "":
		return argument{}, false
	case "subject":
		return argument{value: reflect.ValueOf(fault.SubjectPath()), code: "fault.SubjectPath()"}, true
	case "application":
		return argument{value: reflect.ValueOf(fault.AppPath()), code: "fault.AppPath()"}, true
	}
	number, _ := strings.CutPrefix(name, "replica-")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > s.Cluster.Replicas || name != fmt.Sprintf("replica-%d", n) {
		r.problem(a.Expr.Range().Start, "got %q, want %s of the %d in the cluster block", name, wanted(pathType), s.Cluster.Replicas)
		return argument{}, false
	}
	return argument{value: reflect.ValueOf(fault.ReplicaPath(name)), code: fmt.Sprintf("fault.ReplicaPath(%q)", name)}, true
}

// picks are the attributes that say which statement or event is meant.
func (c constructor) picks() []string {
	var names []string
	switch c.label() {
	case pickType:
		names = append(names, "nth")
	case eventType:
		names = append(names, "nth", "row")
	}
	if c.every {
		names = append(names, "every")
	}
	if c.every || c.stays {
		names = append(names, "as")
	}
	return names
}

// label reads the label of a moment, and which of what it names is meant.
func (r *reader) label(c constructor, block *hcl.Block, content *hcl.BodyContent) []argument {
	at, text := block.LabelRanges[0].Start, block.Labels[0]
	nth := r.count(content.Attributes["nth"])
	var arg argument
	var ok bool
	switch c.label() {
	case stepType:
		arg, ok = r.step(at, text)
	case pickType:
		every := r.flag(content.Attributes["every"])
		if every && nth > 0 {
			r.problem(content.Attributes["nth"].NameRange.Start, "want nth or every, not both")
		}
		arg, ok = r.pick(at, text, nth, every)
	default:
		arg, ok = r.event(at, text, content.Attributes["row"], nth)
	}
	if !ok {
		return nil
	}
	return []argument{arg}
}

// count reads a number from 1 on; 0 is an attribute that is not there.
func (r *reader) count(a *hcl.Attribute) int {
	n := r.number(a)
	if a != nil && n < 1 {
		r.problem(a.Expr.Range().Start, "%s is %d, want 1 or more", a.Name, n)
	}
	return max(n, 0)
}

// pick reads a step, or a pattern between slashes for what is no step.
func (r *reader) pick(at hcl.Pos, text string, nth int, every bool) (argument, bool) {
	var pick fault.Pick
	var arg argument
	if pattern, is := strings.CutPrefix(text, "/"); is && strings.HasSuffix(pattern, "/") {
		pattern = strings.TrimSuffix(pattern, "/")
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			r.problem(at, "%v", err)
			return argument{}, false
		}
		pick = fault.Matching(compiled)
		arg = argument{code: fmt.Sprintf("fault.Matching(regexp.MustCompile(%q))", pattern), uses: []string{"regexp"}}
	} else {
		var ok bool
		if arg, ok = r.step(at, text); !ok {
			return argument{}, false
		}
		pick = fault.Of(step.Step(text))
		if nth > 0 || every { // a step alone is its first statement
			arg.code = "fault.Of(" + arg.code + ")"
		}
	}
	if nth > 0 {
		pick, arg.code = pick.Nth(nth), fmt.Sprintf("%s.Nth(%d)", arg.code, nth)
	}
	if every {
		pick, arg.code = pick.Every(), arg.code+".Every()"
	}
	arg.value = reflect.ValueOf(pick)
	return arg, true
}

// event reads an event of the binlog stream.
func (r *reader) event(at hcl.Pos, text string, row *hcl.Attribute, nth int) (argument, bool) {
	makers := events()
	var names []string
	for _, one := range makers {
		names = append(names, snake(goName(one)))
	}
	if !r.known(at, "the event", text, names) {
		return argument{}, false
	}
	fn := makers[slices.Index(names, text)]
	var args []argument
	if reflect.TypeOf(fn).NumIn() == 1 {
		args = []argument{plain(max(r.count(row), 1))}
	} else if row != nil {
		r.problem(row.NameRange.Start, "row is for row_event alone")
	}
	made := invoke(fn, args)
	event := made.result.Interface().(fault.Event)
	if nth > 0 {
		event, made.code = event.Nth(nth), fmt.Sprintf("%s.Nth(%d)", made.code, nth)
	}
	return argument{value: reflect.ValueOf(event), code: made.code}, true
}

// events are what a binlog stream can be held at.
func events() []any {
	return []any{fault.RowEvent, fault.NextTransaction, fault.TransactionEnd, fault.Rotation}
}
