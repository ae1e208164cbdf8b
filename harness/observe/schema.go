package observe

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// Schema compares two table definitions, as SHOW CREATE TABLE gives them:
// columns and their order, indexes, constraints, table options (the next
// AUTO_INCREMENT value among them) and partitions. Constraints are compared by
// what they demand: their names are unique in a schema, so two tables can't
// have the same.
func Schema(ctx context.Context, want, got Side) ([]history.SchemaDiff, error) {
	w, err := readDefinition(ctx, want)
	if err != nil {
		return nil, err
	}
	g, err := readDefinition(ctx, got)
	if err != nil {
		return nil, err
	}
	return diffDefinitions(w, g), nil
}

func readDefinition(ctx context.Context, s Side) (created, error) {
	conn, done, err := session(ctx, s.DB)
	if err != nil {
		return created{}, err
	}
	defer done()
	statement, err := showCreate(ctx, conn, s.Table)
	if err != nil {
		return created{}, err
	}
	return parseCreate(statement), nil
}

func showCreate(ctx context.Context, conn *sql.Conn, t TableRef) (string, error) {
	var name, statement string
	if err := conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+t.Quoted()).Scan(&name, &statement); err != nil {
		return "", fmt.Errorf("read definition of %s: %w", t, err)
	}
	return statement, nil
}

// created is a CREATE TABLE statement of the server, taken apart. The server
// writes one item per line, so lines are all that needs telling apart.
type created struct {
	order       []string          // column names
	columns     map[string]string // by name
	indexes     map[string]string
	constraints []string // without their names, sorted
	options     map[string]string
	partitions  string
}

func parseCreate(statement string) created {
	c := created{columns: map[string]string{}, indexes: map[string]string{}, options: map[string]string{}}
	lines := strings.Split(statement, "\n")
	for i, line := range lines[1:] {
		if rest, ok := strings.CutPrefix(line, ") "); ok {
			c.options = parseOptions(rest)
			c.partitions = strings.Join(lines[i+2:], "\n")
			break
		}
		c.item(strings.TrimSuffix(strings.TrimSpace(line), ","))
	}
	slices.Sort(c.constraints)
	return c
}

func (c *created) item(line string) {
	name, rest, quoted := cutName(line)
	switch {
	case quoted:
		c.order = append(c.order, name)
		c.columns[name] = rest
	case strings.HasPrefix(line, "PRIMARY KEY"):
		c.indexes["PRIMARY"] = line
	case strings.HasPrefix(line, "CONSTRAINT "):
		_, rest, _ := cutName(strings.TrimPrefix(line, "CONSTRAINT "))
		c.constraints = append(c.constraints, rest)
	default: // KEY, UNIQUE KEY, FULLTEXT KEY, SPATIAL KEY
		_, after, _ := strings.Cut(line, "KEY ")
		name, _, _ := cutName(after)
		c.indexes[name] = line
	}
}

// cutName cuts a quoted identifier off the front.
func cutName(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, "`") {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '`' {
			i++
			continue
		}
		return strings.ReplaceAll(s[1:i], "``", "`"), strings.TrimSpace(s[i+1:]), true
	}
	return "", s, false
}

var option = regexp.MustCompile(`([A-Z][A-Z_ ]*?)=('(?:[^'\\]|''|\\.)*'|\([^)]*\)|[^\s']+)`)

func parseOptions(line string) map[string]string {
	options := map[string]string{}
	for _, m := range option.FindAllStringSubmatch(line, -1) {
		options[m[1]] = m[2]
	}
	return options
}

// noAutoIncrement is the next value of a table that never had a row: the
// server doesn't show it.
const noAutoIncrement = "1"

func diffDefinitions(want, got created) []history.SchemaDiff {
	var diffs []history.SchemaDiff
	add := func(object, w, g string) {
		if w != g {
			diffs = append(diffs, history.SchemaDiff{Object: object, Want: w, Got: g})
		}
	}
	each := func(kind string, w, g map[string]string) {
		names := map[string]bool{}
		for n := range w {
			names[n] = true
		}
		for n := range g {
			names[n] = true
		}
		for _, n := range slices.Sorted(maps.Keys(names)) {
			add(kind+" "+n, w[n], g[n])
		}
	}
	each("column", want.columns, got.columns)
	if len(diffs) == 0 {
		add("order of columns", strings.Join(want.order, ", "), strings.Join(got.order, ", "))
	}
	each("index", want.indexes, got.indexes)
	add("constraints", strings.Join(want.constraints, "; "), strings.Join(got.constraints, "; "))
	if want.increments() || got.increments() {
		for _, o := range []map[string]string{want.options, got.options} {
			if o["AUTO_INCREMENT"] == "" {
				o["AUTO_INCREMENT"] = noAutoIncrement
			}
		}
	}
	each("option", want.options, got.options)
	add("partitions", want.partitions, got.partitions)
	return diffs
}

func (c created) increments() bool {
	for _, definition := range c.columns {
		if strings.Contains(definition, " AUTO_INCREMENT") {
			return true
		}
	}
	return false
}
