package ddl

import "strings"

// forParser blanks out what MySQL knows and the parser doesn't, where it says
// nothing about columns: checks written behind a column, ALTER CONSTRAINT,
// DOUBLE PRECISION. The server still gets the whole text.
func forParser(text string) string {
	tokens, err := scan(text)
	if err != nil {
		return text
	}
	out := []byte(text)
	blank := func(from, end int, with string) {
		copy(out[from:end], with+strings.Repeat(" ", end-from-len(with)))
	}
	for i, t := range tokens {
		switch {
		case i == 0:
		case t.is("precision") && tokens[i-1].is("double"):
			blank(t.start, t.end, "")
		case t.is("constraint") && tokens[i-1].is("alter"):
			blank(t.start, t.end, "CHECK")
		case t.is("partitions") && i >= 2 && tokens[i-1].is("partition") && tokens[i-2].is("add"):
			blank(tokens[i-2].start, t.end, "COALESCE PARTITION") // another number of them, too
		case t.text == "(" && (tokens[i-1].is("add") || i >= 2 && tokens[i-1].is("column") && tokens[i-2].is("add")):
			for _, element := range listedKeys(tokens, i) {
				blank(element[0].start, element[1].end, "")
			}
		case t.is("check"):
			if from, end, ok := columnCheck(tokens, i); ok {
				blank(from, end, "")
			}
		}
	}
	return string(out)
}

// listedKeys finds the indexes among the columns in ADD (...), each from the
// comma before it to its last token. A foreign key is none of them.
func listedKeys(tokens []token, open int) [][2]token {
	var found [][2]token
	depth, comma := 0, 0
	for i := open; i < len(tokens); i++ {
		t := tokens[i]
		if t.kind != tokenSign {
			continue
		}
		switch t.text {
		case "(":
			depth++
			continue
		case ")":
			depth--
		case ",":
		default:
			continue
		}
		if depth > 1 || depth == 1 && t.text == ")" {
			continue
		}
		if comma > 0 && startsKey(tokens[comma+1:i]) {
			found = append(found, [2]token{tokens[comma], tokens[i-1]})
		}
		if depth == 0 {
			break
		}
		comma = i
	}
	return found
}

func startsKey(element []token) bool {
	if len(element) < 3 {
		return false
	}
	switch first := element[0]; {
	case first.is("key"), first.is("index"), first.is("unique"), first.is("fulltext"), first.is("spatial"):
		return true
	case first.is("primary"):
		return element[1].is("key")
	}
	return false
}

// columnCheck finds where the check at tokens[i] starts and ends, if it
// stands among or behind columns.
func columnCheck(tokens []token, i int) (from, end int, ok bool) {
	first := i
	switch {
	case tokens[i-1].is("constraint"):
		first = i - 1
	case i >= 2 && tokens[i-2].is("constraint"):
		first = i - 2
	}
	if first == 0 || i+1 == len(tokens) || tokens[i+1].text != "(" {
		return 0, 0, false
	}
	before := tokens[first-1]
	from = tokens[first].start
	switch {
	case before.text == "(" || before.is("add"):
		return 0, 0, false // a clause of its own, which the parser knows
	case before.text == ",":
		from = before.start // within ADD (...)
	}
	depth, last := 0, i
	for j := i + 1; j < len(tokens); j++ {
		if tokens[j].kind == tokenSign && tokens[j].text == "(" {
			depth++
		}
		if tokens[j].kind == tokenSign && tokens[j].text == ")" {
			depth--
		}
		if last = j; depth == 0 {
			break
		}
	}
	switch {
	case last+1 < len(tokens) && tokens[last+1].is("enforced"):
		last++
	case last+2 < len(tokens) && tokens[last+1].is("not") && tokens[last+2].is("enforced"):
		last += 2
	}
	return from, tokens[last].end, true
}
