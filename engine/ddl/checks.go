package ddl

import "strings"

// CHECK constraints have names that are unique in a schema, so those of a
// shadow made LIKE the original are named anew, and a clause that names one
// must be turned to the shadow's.

// Checks are the names of existing CHECK constraints, or of other
// constraints, that the ALTER drops or switches.
func (a Alter) Checks() []string {
	var names []string
	for _, t := range checkNames(a.Text) {
		names = append(names, t.text)
	}
	return names
}

// RenameChecks is the same ALTER with constraint names replaced, by a map
// from the original's names in lower case to the shadow's.
func (a Alter) RenameChecks(shadow map[string]string) Alter {
	var b strings.Builder
	from := 0
	for _, t := range checkNames(a.Text) {
		if to, ok := shadow[strings.ToLower(t.text)]; ok {
			b.WriteString(a.Text[from:t.start] + QuoteIdent(to))
			from = t.end
		}
	}
	a.Text = b.String() + a.Text[from:]
	return a
}

// checkNames finds the names in DROP or ALTER followed by CHECK or CONSTRAINT.
func checkNames(text string) []token {
	tokens, err := scan(text)
	if err != nil {
		return nil // ParseAlter has read the text before
	}
	var names []token
	for _, c := range clauses(tokens) {
		if len(c) >= 3 && (c[0].is("drop") || c[0].is("alter")) && (c[1].is("check") || c[1].is("constraint")) {
			names = append(names, c[2])
		}
	}
	return names
}
