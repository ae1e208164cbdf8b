package ddl

import (
	"fmt"
	"strings"
)

// token is one lexical piece of an ALTER and where it stands. The parser
// judges the syntax; the tokens exist because the server must get the user's
// own text, with single clauses cut out of it, not a text written anew.
type token struct {
	kind       tokenKind
	text       string // without quotes
	start, end int
}

type tokenKind int

const (
	tokenWord tokenKind = iota
	tokenQuoted
	tokenString
	tokenSign
)

// is tells whether the token is this keyword.
func (t token) is(word string) bool { return t.kind == tokenWord && strings.EqualFold(t.text, word) }

// scan splits SQL into tokens and leaves comments out.
func scan(sql string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(sql); {
		start := i
		switch b := sql[i]; {
		case strings.IndexByte(" \t\r\n\f\v", b) >= 0:
			i++
		case strings.HasPrefix(sql[i:], "/*"):
			if strings.HasPrefix(sql[i:], "/*!") {
				return nil, &Refusal{What: "version comment " + near(sql[i:]),
					Why: "what it does depends on the server's version", Do: "write its clause without the comment"}
			}
			n := strings.Index(sql[i+2:], "*/")
			if n < 0 {
				return nil, fmt.Errorf("parse ALTER: comment without end near '%s'", near(sql[i:]))
			}
			i += n + 4
		case b == '#' || strings.HasPrefix(sql[i:], "--") && (i+2 == len(sql) || sql[i+2] <= ' '):
			n := strings.IndexByte(sql[i:], '\n')
			if n < 0 {
				n = len(sql) - i
			}
			i += n
		case b == '\'' || b == '"' || b == '`':
			text, n := quoted(sql[i:])
			if n < 0 {
				return nil, fmt.Errorf("parse ALTER: quote without end near '%s'", near(sql[i:]))
			}
			i += n
			kind := tokenString
			if b == '`' {
				kind = tokenQuoted
			}
			tokens = append(tokens, token{kind, text, start, i})
		case isWordByte(b):
			for i < len(sql) && isWordByte(sql[i]) {
				i++
			}
			tokens = append(tokens, token{tokenWord, sql[start:i], start, i})
		default:
			i++
			tokens = append(tokens, token{tokenSign, sql[start:i], start, i})
		}
	}
	return tokens, nil
}

// quoted reads the quoted text that s starts with; n is -1 if it has no end.
func quoted(s string) (text string, n int) {
	var b strings.Builder
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] != q:
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == q:
			i++
			b.WriteByte(q)
		default:
			return b.String(), i + 1
		}
	}
	return "", -1
}

func isWordByte(b byte) bool {
	return b == '_' || b == '$' || b >= 0x80 || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// near is the start of a text, for a message of one line.
func near(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 30 {
		return string(r[:30]) + "..."
	}
	return s
}

// clauses splits tokens at the commas that stand outside of parentheses.
func clauses(tokens []token) [][]token {
	var out [][]token
	depth, from := 0, 0
	for i, t := range tokens {
		if t.kind != tokenSign {
			continue
		}
		switch t.text {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				out = append(out, tokens[from:i])
				from = i + 1
			}
		}
	}
	return append(out, tokens[from:])
}

// Mentions tells whether a statement, of whatever kind, may speak of a table,
// in a session with this default schema: it holds the table's name, as a word
// or in quotes, and no other schema's before it.
func Mentions(sql, schema string, table TableName) bool {
	tokens, err := scan(sql)
	if err != nil {
		return strings.Contains(strings.ToLower(sql), strings.ToLower(table.Name))
	}
	for i, t := range tokens {
		if t.kind == tokenSign || !strings.EqualFold(t.text, table.Name) {
			continue
		}
		in := schema
		if i >= 2 && tokens[i-1].text == "." {
			in = tokens[i-2].text
		}
		if strings.EqualFold(in, table.Schema) {
			return true
		}
	}
	return false
}
