package script

import (
	"fmt"
	"reflect"
	"strings"

	"rowproof/harness/fault"
	"rowproof/harness/step"
)

// GoNames returns the functions that the catalogue calls.
func GoNames() []string {
	var names []string
	for _, c := range append(moments(), actions()...) {
		names = append(names, c.goName())
	}
	for _, e := range events() {
		names = append(names, goName(e))
	}
	for _, kind := range sessionKinds() {
		names = append(names, goName(kind))
	}
	for _, fn := range []any{fault.Sending, fault.Sent, fault.Writing, fault.SubjectPath, fault.AppPath, fault.ReplicaPath, fault.Of, fault.Matching} {
		names = append(names, goName(fn))
	}
	return names
}

// Misfits returns the entries of the catalogue whose parameters a file can't
// give: too few or too many names, or a type that no attribute is read as.
func Misfits() []string {
	var found []string
	for _, c := range append(moments(), actions()...) {
		t := reflect.TypeOf(c.fn)
		first, end := 0, t.NumIn()
		if c.label() != nil {
			first = 1
		}
		if t.IsVariadic() && t.In(end-1).Elem() == actionType {
			end--
		}
		if got, want := len(c.params), end-first; got != want {
			found = append(found, fmt.Sprintf("%s: %d names for %d parameters", c.goName(), got, want))
		}
		for i := first; i < end; i++ {
			in := t.In(i)
			if t.IsVariadic() && i == t.NumIn()-1 {
				in = in.Elem()
			}
			if !readable(in) {
				found = append(found, fmt.Sprintf("%s: no attribute is read as %v", c.goName(), in))
			}
		}
	}
	return found
}

// readable reports whether argument reads an attribute as this type.
func readable(t reflect.Type) bool {
	switch t {
	case writeType, stepType, durationType, roleType, sideType, sessionsType, keyType, pathType, settingsType:
		return true
	}
	return t.Kind() == reflect.String || t.Kind() == reflect.Bool || t.Kind() == reflect.Int || t.Kind() == reflect.Int64
}

// Words returns the constants of package fault that a file can name, by type.
func Words() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, t := range []reflect.Type{roleType, sideType} {
		all[t.Name()] = map[string]string{}
		for _, w := range words(t) {
			all[t.Name()][w.goName] = w.text()
		}
	}
	return all
}

// Camel is camel.
func Camel(name string) string { return camel(name) }

// Kinds returns the anomalies by their names in Go.
func Kinds() map[string]string {
	all := map[string]string{}
	for _, k := range kinds() {
		all[k.goName] = string(k.Kind)
	}
	return all
}

// Reference lists, in Markdown, what a file can call.
func Reference() string {
	var b strings.Builder
	b.WriteString("### When\n\n| block | attributes | its actions come |\n|---|---|---|\n")
	for _, m := range moments() {
		label := ""
		for _, name := range m.header().LabelNames {
			label = ` "` + strings.ToUpper(name) + `"`
		}
		fmt.Fprintf(&b, "| `%s%s {…}` | %s | %s |\n", m.name(), label, list(append(m.params, m.picks()...)), m.doc)
	}
	var names []string
	for _, e := range events() {
		names = append(names, snake(goName(e)))
	}
	fmt.Fprintf(&b, "\nEvents: %s.\n", list(names))
	b.WriteString("\nSteps, in the order in which a migration passes them: ")
	var steps []string
	for _, s := range step.All() {
		steps = append(steps, string(s))
	}
	b.WriteString(list(steps) + ".\n\n")
	b.WriteString("### What happens\n\n| block | attributes | what it does |\n|---|---|---|\n")
	for _, a := range actions() {
		var attributes []string
		for i, name := range a.params {
			attributes = append(attributes, fmt.Sprintf("`%s`: %s", name, wanted(reflect.TypeOf(a.fn).In(i))))
		}
		doc := a.doc
		switch a.needs {
		case aReplica:
			doc += ". Needs a replica"
		case semiSync:
			doc += ". Needs `semi_sync`"
		case performanceSchema:
			doc += ". Needs `performance_schema`"
		}
		fmt.Fprintf(&b, "| `%s {…}` | %s | %s |\n", a.name(), strings.Join(attributes, "; "), doc)
	}
	b.WriteString("\n### Anomalies for `guards`\n\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "- `%s`\n", k.Kind)
	}
	return b.String()
}

func list(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, "`"+name+"`")
	}
	return strings.Join(quoted, ", ")
}
