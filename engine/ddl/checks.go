package ddl

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// CHECK constraints have names that are unique in a schema, so those of a
// shadow made LIKE the original are named anew. And no statement renames one:
// only RENAME TABLE does, if the name begins with the table's and _chk_. So
// the shadow's checks are named after the shadow, to come out right in the
// swap, and a check with a name of its own can't be kept. The clauses of the
// ALTER that name a check must be turned to the shadow's name.

// Checks are the CHECK constraints of a shadow by the original's names.
type Checks struct {
	original TableName
	list     []check
}

type check struct {
	name   string // in the original
	clause string // CHECK (...) as SHOW CREATE TABLE has it
	shadow string // its name in the shadow
}

var checkLine = regexp.MustCompile("^  CONSTRAINT (`(?:[^`]|``)+`) (CHECK .*?),?$")

// readChecks reads the constraints from SHOW CREATE TABLE, which has one in a
// line.
func readChecks(createSQL string) []check {
	var list []check
	for line := range strings.Lines(createSQL) {
		if found := checkLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); found != nil {
			name := found[1][1 : len(found[1])-1]
			list = append(list, check{name: strings.ReplaceAll(name, "``", "`"), clause: found[2]})
		}
	}
	return list
}

const checkInfix = "_chk_"

// follows tells whether RENAME TABLE renames a check with its table, and what
// stays of the name.
func follows(name string, t TableName) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, t.Name+checkInfix)
	return rest, ok && rest != ""
}

// maxIdentifier is how many characters a name may have.
const maxIdentifier = 64

// NewChecks finds names for the checks in the shadow. It refuses a name that
// would be too long for one of the tables through which the swap takes it.
func NewChecks(original Table, shadow, old TableName) (Checks, error) {
	c := Checks{original: original.Name, list: readChecks(original.CreateSQL)}
	for i, k := range c.list {
		rest, ours := follows(k.name, original.Name)
		if !ours {
			rest = fmt.Sprintf("osc%d", i+1) // Kept refuses it if the ALTER doesn't drop it
		}
		c.list[i].shadow = shadow.Name + checkInfix + rest
		for _, table := range []TableName{shadow, old} {
			if name := table.Name + checkInfix + rest; ours && utf8.RuneCountInString(name) > maxIdentifier {
				return Checks{}, &Refusal{What: "CHECK constraint " + QuoteIdent(k.name),
					Why: "it would be " + name + " while the tables are swapped, which is too long a name",
					Do:  "drop it first and add it again afterwards"}
			}
		}
	}
	return c, nil
}

// Rename is the clauses that give the shadow's checks, which the server has
// named, their names. It is empty if there are none.
func (c Checks) Rename(shadow Table) string {
	var clauses []string
	for _, k := range readChecks(shadow.CreateSQL) {
		clauses = append(clauses, "DROP CHECK "+QuoteIdent(k.name))
	}
	for _, k := range c.list {
		clauses = append(clauses, "ADD CONSTRAINT "+QuoteIdent(k.shadow)+" "+k.clause)
	}
	return strings.Join(clauses, ", ")
}

// Translate is the text of the ALTER with the shadow's names for the checks
// that it drops or switches.
func (c Checks) Translate(a Alter) string {
	var b strings.Builder
	from := 0
	for _, t := range checkNames(a.Text) {
		for _, k := range c.list {
			if strings.EqualFold(k.name, t.text) {
				b.WriteString(a.Text[from:t.start] + QuoteIdent(k.shadow))
				from = t.end
			}
		}
	}
	return b.String() + a.Text[from:]
}

// Kept refuses a check with a name of its own that the shadow still has after
// the ALTER.
func (c Checks) Kept(shadow Table) error {
	left := readChecks(shadow.CreateSQL)
	for _, k := range c.list {
		if _, ours := follows(k.name, c.original); ours {
			continue
		}
		for _, l := range left {
			if strings.EqualFold(l.name, k.shadow) {
				return refuseCheckName(k.name)
			}
		}
	}
	return nil
}

// Refuse refuses, before there is a shadow, what Kept would refuse for sure:
// an ALTER that drops no column can't drop a check without naming it.
func (c Checks) Refuse(a Alter) error {
	if len(a.Dropped) > 0 {
		return nil
	}
	named := checkNames(a.Text)
	for _, k := range c.list {
		_, found := follows(k.name, c.original)
		for _, t := range named {
			found = found || strings.EqualFold(t.text, k.name)
		}
		if !found {
			return refuseCheckName(k.name)
		}
	}
	return nil
}

func refuseCheckName(name string) error {
	return &Refusal{What: "CHECK constraint " + QuoteIdent(name),
		Why: "its name is taken in the schema as long as the original is there, and no statement renames a constraint",
		Do:  "give it another name in the same ALTER: DROP CHECK " + QuoteIdent(name) + ", ADD CONSTRAINT new_name CHECK (...)"}
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
