package stream

import "strings"

// harmless reports a CREATE, ALTER or DROP of something that is no part of
// any table, although its text may name one: a routine, a view, an account.
// A trigger is a part of its table.
func harmless(text string) bool {
	switch firstWord(text) {
	case "CREATE", "ALTER", "DROP", "RENAME":
	default:
		return false
	}
	for word := range words(text) {
		switch strings.ToUpper(word) {
		case "TABLE", "TABLES", "INDEX", "TRIGGER", "DATABASE", "SCHEMA":
			return false
		case "TEMPORARY", // of one session, and gone with it
			"PROCEDURE", "FUNCTION", "EVENT", "VIEW", "LIBRARY", "USER", "ROLE", "SERVER", "TABLESPACE", "INSTANCE":
			return true
		}
	}
	return false
}

// words yields the words of a statement that stand outside quotes. Comments
// count as text: the server hides TEMPORARY in one.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			switch c := text[0]; {
			case c == '`' || c == '\'' || c == '"':
				end := strings.IndexByte(text[1:], c)
				if end < 0 {
					return
				}
				text = text[end+2:]
			case letter(c):
				end := 1
				for end < len(text) && letter(text[end]) {
					end++
				}
				if !yield(text[:end]) {
					return
				}
				text = text[end:]
			default:
				text = text[1:]
			}
		}
	}
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9' || c == '$' || c >= 0x80
}
