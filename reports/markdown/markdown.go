// Package markdown writes what is pasted elsewhere: a bug report for the
// maintainers of the tool that lost data, and the summary of a CI job.
//
// Values come from tables and may hold anything, so each is put into a code
// span or block that none of its own backticks can end.
package markdown

import (
	"strings"

	"rowproof/reports"
)

// code is a code span that holds s, for a table's cell if need be.
func code(s string) string {
	s = strings.Join(strings.Fields(reports.Printable(s)), " ")
	if s == "" {
		return ""
	}
	fence := fenceFor(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// block is a code block that holds s.
func block(language, s string) string {
	s = reports.Printable(s)
	fence := fenceFor(s, 3)
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// fenceFor is a run of backticks, at least least long, that s does not hold.
func fenceFor(s string, least int) string {
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", max(longest+1, least))
}

// prose is text outside of code, with all that Markdown or HTML would act
// upon made harmless.
func prose(s string) string {
	var b strings.Builder
	for _, r := range reports.Printable(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|~&!@$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cell is prose for a cell of a table.
func cell(s string) string { return strings.Join(strings.Fields(prose(s)), " ") }
