package ddl

import "strings"

// QuoteIdent writes a name as a quoted identifier, whatever it contains.
func QuoteIdent(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// QuoteString writes text as a string literal, for a session without
// NO_BACKSLASH_ESCAPES.
func QuoteString(text string) string {
	r := strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`)
	return "'" + r.Replace(text) + "'"
}

// quoteIdents quotes each name and joins them with commas.
func quoteIdents(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = QuoteIdent(n)
	}
	return strings.Join(quoted, ", ")
}
