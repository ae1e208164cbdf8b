package wire

import (
	"regexp"
	"slices"
	"strings"

	"rowproof/harness/step"
)

// Phrase says how one tool says one step.
type Phrase struct {
	Step    step.Step
	Pattern *regexp.Regexp // over the statement's text; nil: any text
	Kind    Kind           // "": a query or a prepared execution
}

// Phrasebook maps the commands of one tool to steps. A binlog dump command is
// step.Dump in every tool; the zero value knows nothing else.
type Phrasebook struct {
	mark    string
	phrases []Phrase
}

// NewPhrasebook makes the phrasebook of a tool that does not mark its
// statements. The first phrase that fits gives the step.
func NewPhrasebook(phrases ...Phrase) Phrasebook {
	return Phrasebook{phrases: phrases}
}

// CommentPhrasebook makes the phrasebook of a tool that marks its statements
// with a comment: /* tool:STEP */ anywhere in the text.
func CommentPhrasebook(tool string) Phrasebook {
	return Phrasebook{mark: "/* " + tool + ":"}
}

// Has reports whether the tool says a step at all. A tool that marks its
// statements is taken to have every step.
func (b Phrasebook) Has(s step.Step) bool {
	return b.mark != "" || slices.ContainsFunc(b.phrases, func(p Phrase) bool { return p.Step == s })
}

// Step returns the step of a command, or "".
func (b Phrasebook) Step(kind Kind, sql string) step.Step {
	if kind == KindDump {
		return step.Dump
	}
	statement := kind == KindQuery || kind == KindExecute
	if b.mark != "" && statement {
		if _, rest, ok := strings.Cut(sql, b.mark); ok {
			if name, _, ok := strings.Cut(rest, " */"); ok && isStepName(name) {
				return step.Step(name)
			}
		}
	}
	for _, p := range b.phrases {
		if p.Kind == "" && !statement || p.Kind != "" && p.Kind != kind {
			continue
		}
		if p.Pattern == nil || p.Pattern.MatchString(sql) {
			return p.Step
		}
	}
	return ""
}

func isStepName(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return true
}
