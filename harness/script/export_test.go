package script

import (
	"fmt"
	"reflect"
	"strings"

	"rowproof/harness/step"
)

// GoNames returns the functions that the catalogue calls.
func GoNames() []string {
	var names []string
	for _, c := range append(moments(), actions()...) {
		names = append(names, c.goName())
		if c.nth != nil {
			names = append(names, goName(c.nth))
		}
	}
	return names
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
	b.WriteString("### When\n\n| block | its actions come |\n|---|---|\n")
	for _, m := range moments() {
		label := ""
		if m.labelled() {
			label = ` "STEP"`
		}
		fmt.Fprintf(&b, "| `%s%s {…}` | %s |\n", m.name(), label, m.doc)
	}
	b.WriteString("\nSteps, in the order in which a migration passes them: ")
	var steps []string
	for _, s := range step.All() {
		steps = append(steps, "`"+string(s)+"`")
	}
	b.WriteString(strings.Join(steps, ", ") + ".\n\n")
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
		}
		fmt.Fprintf(&b, "| `%s {…}` | %s | %s |\n", a.name(), strings.Join(attributes, "; "), doc)
	}
	b.WriteString("\n### Anomalies for `guards`\n\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "- `%s`\n", k.Kind)
	}
	return b.String()
}
