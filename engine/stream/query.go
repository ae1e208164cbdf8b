package stream

import (
	"fmt"
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"rowproof/engine/ddl"
)

// query looks at a statement that stands in the binlog as text. It lets pass
// what can't touch the original, and stops the stream for what can: a change
// of its definition, or a change of rows that was logged as a statement and
// so names no keys.
func (r *reader) query(schema, text string) error {
	switch firstWord(text) {
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA",
		"GRANT", "REVOKE", "FLUSH", "ANALYZE", "OPTIMIZE", "SET":
		return nil
	}
	if _, ours := r.expected.Load(text); ours {
		return nil
	}
	if harmless(text) || !r.touches(schema, text, r.cfg.Original, r.cfg.Shadow) {
		return nil
	}
	if r.cfg.Resumed && strings.HasPrefix(text, "/* osc:") && !r.touches(schema, text, r.cfg.Original) {
		return nil // of the run that is resumed, which announced it to its own stream alone
	}
	kind := "a definition change"
	switch firstWord(text) {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "WITH":
		kind = "a change logged as a statement (binlog_format is not ROW in that session)"
	}
	return fmt.Errorf("%s of %s by somebody else: %s", kind, r.cfg.Original, shorten(text, 120))
}

// touches reports whether a statement may name one of these tables. What
// can't be parsed and contains the name counts as naming it.
func (r *reader) touches(schema, text string, tables ...string) bool {
	lower := strings.ToLower(text)
	if drops(lower, "schema", r.cfg.Schema) || drops(lower, "database", r.cfg.Schema) {
		return true
	}
	if !slices.ContainsFunc(tables, func(t string) bool {
		return ddl.Mentions(text, schema, ddl.TableName{Schema: r.cfg.Schema, Name: t})
	}) {
		return false
	}
	parser, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: "8.4.0"})
	if err != nil {
		return true
	}
	statement, err := parser.ParseStrictDDL(text)
	if err != nil {
		return true
	}
	found := false
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		switch node := node.(type) {
		case sqlparser.TableName:
			found = found || r.is(node, schema, tables)
		case *sqlparser.RenameTable: // Walk does not go into its pairs
			for _, pair := range node.TablePairs {
				found = found || r.is(pair.FromTable, schema, tables) || r.is(pair.ToTable, schema, tables)
			}
		}
		return true, nil
	}, statement)
	return found
}

// is reports whether a name means one of the tables to a session whose
// default schema is given.
func (r *reader) is(name sqlparser.TableName, schema string, tables []string) bool {
	if in := name.Qualifier.String(); in != "" {
		schema = in
	}
	return strings.EqualFold(schema, r.cfg.Schema) &&
		slices.ContainsFunc(tables, func(t string) bool { return strings.EqualFold(name.Name.String(), t) })
}

func drops(lower, what, schema string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(lower), "drop "+what)
	return ok && strings.Contains(rest, strings.ToLower(schema))
}

func firstWord(text string) string {
	text = strings.TrimSpace(text)
	for strings.HasPrefix(text, "/*") {
		end := strings.Index(text, "*/")
		if end < 0 {
			return ""
		}
		text = strings.TrimSpace(text[end+2:])
	}
	end := strings.IndexFunc(text, func(c rune) bool { return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:end])
}

func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "…"
}
