package check

import (
	"regexp"
	"strings"
)

// Rename is one table that a statement gives another name.
type Rename struct{ From, To string }

// A table's name as it stands in a statement: bare or quoted, with or without
// its schema.
const (
	identifier = "(?:`((?:[^`]|``)+)`|([0-9A-Za-z_$]+))"
	qualified  = "(?:" + identifier + `\s*\.\s*)?` + identifier
)

var (
	comments    = regexp.MustCompile(`(?s)/\*.*?\*/`)
	renameTable = regexp.MustCompile(`(?i)^\s*RENAME\s+TABLES?\s`)
	renamePair  = regexp.MustCompile(`(?i)` + qualified + `\s+TO\s+` + qualified)
	alterRename = regexp.MustCompile(`(?i)^\s*ALTER\s+TABLE\s+` + qualified + `\s+RENAME\s+(?:TO\s+|AS\s+)?` + qualified + `\s*$`)
)

// Renames returns the table renames that a statement from the binlog makes, in
// order; schemas are left out.
func Renames(sql string) []Rename {
	sql = comments.ReplaceAllString(sql, " ")
	if m := alterRename.FindStringSubmatch(sql); m != nil {
		return []Rename{pair(m)}
	}
	if !renameTable.MatchString(sql) {
		return nil
	}
	var all []Rename
	for _, m := range renamePair.FindAllStringSubmatch(sql, -1) {
		all = append(all, pair(m))
	}
	return all
}

// pair reads the groups of two qualified names: each has four, two of the
// schema and two of the table.
func pair(m []string) Rename {
	return Rename{From: unquote(m[3], m[4]), To: unquote(m[7], m[8])}
}

func unquote(quoted, bare string) string {
	if quoted != "" {
		return strings.ReplaceAll(quoted, "``", "`")
	}
	return bare
}
