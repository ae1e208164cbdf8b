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
		case t.is("check"):
			if from, end, ok := columnCheck(tokens, i); ok {
				blank(from, end, "")
			}
		}
	}
	return string(out)
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
