package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"rowproof/harness/check"
)

// page is what the template of the page is filled with. All of it is Markdown.
type page struct {
	Servers  string // versions of MySQL
	Columns  []column
	Rows     []row
	Bugs     []bug
	Findings []finding
	Kills    []kill
	Picture  string // from the page
}

// column is a subject in the table of verdicts.
type column struct {
	Name    string
	subject string
	seen    seen // how it was seen as a rule
}

// seen is which version was seen, and when.
type seen struct{ version, date string }

func (s seen) String() string {
	return strings.Join(slices.DeleteFunc([]string{s.version, s.date}, func(t string) bool { return t == "" }), ", ")
}

type row struct {
	Scenario string
	Cells    []string
}

type bug struct{ Scenario, Bug, Control, Guards, Reports string }

type finding struct{ Subject, Version, Scenario, Anomaly, Outcome, Reports string }

type kill struct{ Mutant, By string }

// notRun stands in the table for what nobody has tried yet.
const notRun = "—"

func (c Catalogue) page() page {
	p := page{Picture: fromPage(PictureFile)}
	var servers []string
	for _, f := range c.Known {
		if f.Server != "" && !slices.Contains(servers, f.Server) {
			servers = append(servers, f.Server)
		}
	}
	slices.Sort(servers)
	p.Servers = strings.Join(servers, ", ")
	p.Columns = c.columns()
	for _, s := range c.Scenarios {
		r := row{Scenario: s.ID}
		for _, col := range p.Columns {
			r.Cells = append(r.Cells, c.cell(s, col))
		}
		p.Rows = append(p.Rows, r)
		p.Bugs = append(p.Bugs, bug{s.ID, cell(s.Bug), s.Control, string(s.Guards), links(s.Reports)})
	}
	for _, f := range c.Known {
		s, ok := c.scenario(f.Scenario)
		if ok && foreign(f) && f.Verdict == check.Invalid {
			p.Findings = append(p.Findings, finding{toolName(f.Subject), f.Version, f.Scenario, linked(f), f.Outcome, links(reportsOn(f, s))})
		}
	}
	p.Kills = c.kills()
	return p
}

// fromPage is a path below the module's root as the page has to name it.
func fromPage(file string) string { return "../" + file }

// cell is a text in a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`, "`", "\\`").Replace(text)
}

// foreign tells whether a finding is on a tool that is not ours.
func foreign(f check.Finding) bool { return f.Subject != check.KnownOsc && !isMutant(f) }

// toolName is what a subject is called where there is room.
func toolName(subject string) string {
	if rest, ok := strings.CutPrefix(subject, "pt-osc"); ok {
		return "pt-online-schema-change" + rest
	}
	return subject
}

// columns are our engine, the tools that the project knows, and then those of
// them that were given flags.
func (c Catalogue) columns() []column {
	order := []string{check.KnownOsc, "pt-osc", "gh-ost", "spirit"}
	var more []string
	times := map[string]map[seen]int{}
	for _, f := range c.Known {
		if isMutant(f) {
			continue
		}
		if !slices.Contains(order, f.Subject) && !slices.Contains(more, f.Subject) {
			more = append(more, f.Subject)
		}
		if times[f.Subject] == nil {
			times[f.Subject] = map[seen]int{}
		}
		if f.Version != "" { // it was not asked for where it was not run
			times[f.Subject][seen{f.Version, f.Date}]++
		}
	}
	slices.Sort(more)
	var all []column
	for _, subject := range append(order, more...) {
		col := column{Name: toolName(subject), subject: subject, seen: mostOften(times[subject])}
		if rule := col.seen.String(); rule != "" {
			col.Name += "<br>" + rule
		}
		all = append(all, col)
	}
	return all
}

func mostOften(times map[seen]int) seen {
	all := slices.SortedFunc(maps.Keys(times), func(a, b seen) int {
		return cmp.Or(times[b]-times[a], cmp.Compare(b.date, a.date), cmp.Compare(a.version, b.version))
	})
	if len(all) == 0 {
		return seen{}
	}
	return all[0]
}

// cell is what a subject did in a scenario. Our engine has a run with its
// verify pass beside the bare one, which is told if it came to something else.
func (c Catalogue) cell(s Scenario, col column) string {
	var texts []string
	for _, f := range c.Known {
		if f.Scenario != s.ID || f.Subject != col.subject {
			continue
		}
		switch text := verdict(f, col.seen); {
		case slices.Contains(texts, text):
		case f.Verify && len(texts) > 0:
			texts = append(texts, text+" with its verify pass")
		default:
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return notRun
	}
	return strings.Join(texts, "; ")
}

// verdict is a finding in a few words. When it was seen is told if it was
// another version, or another day, than as a rule.
func verdict(f check.Finding, rule seen) string {
	text := string(f.Verdict)
	switch {
	case f.Verdict == check.Invalid:
		text = "**Invalid**: " + linked(f)
	case f.Verdict == check.Valid && f.Outcome != "completed":
		text = fmt.Sprintf("%s (%s)", f.Outcome, f.Verdict)
	}
	is := seen{cmp.Or(f.Version, rule.version), f.Date}
	if is != rule {
		text += "<br>" + is.String()
	}
	return text
}

// linked is the anomaly of a finding, with a link to the report on its run if
// the tool is not ours.
func linked(f check.Finding) string {
	if !foreign(f) {
		return string(f.Anomaly)
	}
	return fmt.Sprintf("[%s](%s)", f.Anomaly, strings.ReplaceAll(fromPage(path.Join(check.KnownDir, f.RunReport())), " ", "%20"))
}
