package parting

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// after is the time of what was found when the run was over.
const after = -1

// strands takes a run apart.
func strands(r *history.Record) []Strand {
	all := &collection{place: map[string]int{}}
	addMarks(all, r)
	addClients(all, r)
	for _, b := range r.Observed.Binlog {
		text := fmt.Sprintf("%s %s of %s", b.Kind, b.Key, b.Table)
		if b.Kind == "ddl" {
			text = plain(b.SQL)
		}
		at := b.Commit.Sub(r.Started)
		if b.Commit.IsZero() || at < 0 {
			at = 0
		}
		all.add("the source's binlog", Event{at, text})
	}
	all.add("the end", Event{r.Exit.At, strings.TrimSpace(fmt.Sprintf("%s, exit status %d %s", r.Exit.Outcome, r.Exit.Code, r.Exit.Signal))})
	for _, k := range slices.Sorted(maps.Keys(r.Observed.Final)) {
		all.add("the final rows", Event{after, fmt.Sprintf("row %s: %s", k, check.Show(r.Observed.Final[k]))})
	}
	for _, d := range r.Observed.Comparison.Diffs {
		all.add("the rows that differ", Event{after, fmt.Sprintf("row %s is %s and should be %s", d.Key, check.Show(d.Got), check.Show(d.Want))})
	}
	return all.strands
}

type collection struct {
	strands []Strand
	place   map[string]int
}

func (c *collection) add(name string, e Event) {
	i, ok := c.place[name]
	if !ok {
		i = len(c.strands)
		c.place[name] = i
		c.strands = append(c.strands, Strand{Name: name})
	}
	c.strands[i].Events = append(c.strands[i].Events, e)
}

// addClients adds what each client did and was told.
func addClients(all *collection, r *history.Record) {
	for _, op := range r.Ops {
		text := strings.Join(op.SQL, "; ")
		if text == "" {
			for _, c := range op.Changes {
				text += fmt.Sprintf("%s %s %s ", c.Kind, c.Key, check.Show(c.Set))
			}
		}
		text = fmt.Sprintf("%s → %s", strings.TrimSpace(text), op.Outcome)
		if op.Code != 0 {
			text += fmt.Sprintf(" (error %d)", op.Code)
		}
		all.add("client "+op.Client, Event{op.Invoke, text})
	}
}

// answersTo begins the name of a strand of answers.
const answersTo = "answers to "

// quiet are the steps whose answers are about the server and not about rows:
// they differ from run to run and mean nothing.
var quiet = []string{"preflight", "shadow", "attach", "dump", "sentinel", "checkpoint", "drain", "cleanup"}

// addMarks adds the steps of the subject, the faults, the gates and the
// stream. A statement is held against the same occurrence of its step,
// whatever connection it went over.
func addMarks(all *collection, r *history.Record) {
	first := map[string]bool{}
	for _, m := range r.Marks {
		switch m.Name {
		case history.MarkStepSent:
			if !first[m.Step] {
				first[m.Step] = true
				all.add("the order of the steps", Event{m.At, m.Step})
			}
			text := plain(m.Text)
			if slices.Contains(quiet, m.Step) {
				text = numbers.ReplaceAllString(text, "N")
			}
			all.add("step "+m.Step, Event{m.At, text})
		case history.MarkStepReplied:
			if !slices.Contains(quiet, m.Step) {
				all.add(answersTo+m.Step, Event{m.At, answer(m)})
			}
		case history.MarkFaultFired, history.MarkFaultEnded:
			all.add("the faults", Event{m.At, fmt.Sprintf("%s: %s%s", m.Name, m.Data["fault"], m.Data["label"])})
		case history.MarkHeld, history.MarkReleased:
			all.add("the gates", Event{m.At, fmt.Sprintf("%s %s %s", m.Name, m.Data["gate"], m.Step)})
		case history.MarkStreamEvent:
			all.add("the stream", Event{m.At, plain(fmt.Sprintf("%s %s %s %s", m.Data["change"], m.Data["kind"], m.Data["table"], m.Text))})
		}
	}
}

func answer(m history.Mark) string {
	if e := m.Data["error"]; e != "" {
		return "error: " + plain(e)
	}
	if rows := m.Data["rows"]; rows != "" {
		return "rows " + plain(rows)
	}
	return "rows affected: " + m.Data["affected"]
}

// What has another value in each run.
var (
	numbers = regexp.MustCompile(`[0-9]+`)
	own     = []struct {
		pattern *regexp.Regexp
		name    string
	}{
		{regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(:[0-9]+(-[0-9]+)?)*`), "<gtid>"},
		{regexp.MustCompile(`[A-Za-z0-9_-]+\.[0-9]{6,}(:[0-9]+)?`), "<binlog>"},
		{regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?`), "<time>"},
		{regexp.MustCompile(`\b[0-9a-f]{16}(-[0-9]+)?\b`), "<token>"},
		{regexp.MustCompile(`\s+`), " "},
	}
)

// plain is a text without what differs in each run.
func plain(s string) string {
	for _, o := range own {
		s = o.pattern.ReplaceAllString(s, o.name)
	}
	return strings.TrimSpace(s)
}
