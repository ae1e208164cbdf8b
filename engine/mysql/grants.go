package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// Grants are the privileges of the session's user and its active roles, in
// capitals.
type Grants struct {
	Global map[string]bool
	Schema map[string]bool // on all tables of the schema that was asked about

	revoked map[string]bool // global ones that don't hold for this schema (partial_revokes)
}

// InSchema reports whether a privilege holds for all tables of the schema.
func (g Grants) InSchema(privilege string) bool {
	return g.Schema[privilege] || g.Global[privilege] && !g.revoked[privilege]
}

// grantLine reads GRANT a, b ON `s`.* TO …; the names are quoted with ` or,
// under ANSI_QUOTES, with ".
var grantLine = regexp.MustCompile("^(GRANT|REVOKE) (.+?) ON [`\"]?(.+?)[`\"]?\\.\\* (?:TO|FROM) ")

// allPrivileges stands for each privilege that Rowproof may ask for.
var allPrivileges = []string{
	"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "LOCK TABLES",
	"CREATE TEMPORARY TABLES", "TRIGGER", "PROCESS", "REPLICATION SLAVE", "REPLICATION CLIENT",
}

// Grants reads what the session may do on the server and in a schema.
func (s *Server) Grants(ctx context.Context, schema string) (Grants, error) {
	rows, err := s.DB.QueryContext(ctx, Step("preflight", "SHOW GRANTS"))
	if err != nil {
		return Grants{}, fmt.Errorf("read privileges: %w", err)
	}
	defer rows.Close()
	g := Grants{Global: map[string]bool{}, Schema: map[string]bool{}, revoked: map[string]bool{}}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return Grants{}, fmt.Errorf("read privileges: %w", err)
		}
		g.add(line, schema)
	}
	if err := rows.Err(); err != nil {
		return Grants{}, fmt.Errorf("read privileges: %w", err)
	}
	return g, nil
}

func (g Grants) add(line, schema string) {
	found := grantLine.FindStringSubmatch(line)
	if found == nil {
		return // a role, a proxy, or one table
	}
	into := g.Schema
	switch on := found[3]; {
	case on == "*":
		into = g.Global
	case !likeSchema(on, schema):
		return
	case found[1] == "REVOKE":
		into = g.revoked
	}
	for privilege := range strings.SplitSeq(found[2], ",") {
		privilege = strings.TrimSpace(strings.ToUpper(privilege))
		if privilege == "ALL PRIVILEGES" {
			for _, p := range allPrivileges {
				into[p] = true
			}
		}
		into[privilege] = true
	}
}

// likeSchema matches a schema with the pattern of a grant, in which % and _
// are wild and \ takes that away.
func likeSchema(pattern, schema string) bool {
	pattern = strings.ReplaceAll(pattern, "``", "`")
	var re strings.Builder
	re.WriteString("^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			re.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '%':
			re.WriteString(".*")
		case c == '_':
			re.WriteString(".")
		default:
			re.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re.WriteString("$")
	ok, err := regexp.MatchString(re.String(), schema)
	return err == nil && ok
}
