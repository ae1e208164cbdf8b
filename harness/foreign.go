package harness

import (
	"context"
	"slices"
	"strings"
	"sync"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// missingSteps lists the steps that a subject lacks.
func missingSteps(needed []step.Step, book wire.Phrasebook) []string {
	var missing []string
	for _, s := range needed {
		if !book.Has(s) {
			missing = append(missing, string(s))
		}
	}
	return missing
}

// versions remembers which version a tool is: asking it can take a container.
type versions struct {
	mu    sync.Mutex
	known map[string]string // by the subject as it was asked for
}

// of returns a tool's version, and asks it the first time alone.
func (v *versions) of(ctx context.Context, name string, tool subject.Foreign) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if version, ok := v.known[name]; ok {
		return version, nil
	}
	version, err := tool.Version(ctx)
	if err != nil {
		return "", err
	}
	if v.known == nil {
		v.known = make(map[string]string)
	}
	v.known[name] = version
	return version, nil
}

// repeatFlags is the part of a command line that gives a subject its flags.
func repeatFlags(flags []string) string {
	var b strings.Builder
	for _, f := range flags {
		b.WriteString(" --subject-flag=" + shellQuote(f))
	}
	return b.String()
}

// shellQuote is a text as one word of a shell.
func shellQuote(text string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_=./:,@%+", c)
	}
	if text != "" && !strings.ContainsFunc(text, func(c rune) bool { return !plain(c) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// settleRefused tells a refusal from an abort. The exit statuses of other
// tools don't, but whoever has not made a shadow has changed nothing.
func (r *run) settleRefused() {
	began := slices.ContainsFunc(r.recorder.Marks(), func(m history.Mark) bool {
		return m.Name == history.MarkStepSent && m.Step == string(step.Shadow)
	})
	if r.record.Foreign && r.record.Exit.Outcome == subject.Aborted && !began {
		r.record.Exit.Outcome = subject.Refused
	}
}

// settleSwapped takes a tool that failed after it had swapped the tables for
// one that is done: what it left is what counts, and its exit status is a
// finding of its own.
func (r *run) settleSwapped(swapped bool) {
	if r.record.Foreign && r.record.Exit.Outcome == subject.Aborted && swapped {
		r.record.Exit.Outcome = subject.Completed
	}
}

// account is whom the subject logs in as.
func account(under subject.Subject) topology.Account {
	if _, foreign := under.(subject.Foreign); foreign {
		return topology.Tool()
	}
	return topology.Migrator()
}

// specFor is the cluster of a scenario as the subject needs it.
func specFor(spec topology.Spec, under subject.Subject) topology.Spec {
	if tool, ok := under.(subject.Foreign); ok && tool.PerformanceSchema() {
		spec.PerformanceSchema = true
	}
	return spec
}

// commandFor is how to run the subject on a server at addr. The target is
// given without what is the same for all.
func commandFor(ctx context.Context, under subject.Subject, addr string, target subject.Target) (subject.Command, error) {
	var err error
	if target.Host, target.Port, err = hostPort(addr); err != nil {
		return subject.Command{}, err
	}
	target.User, target.Password = account(under).User, account(under).Password
	target.Schema = topology.Database
	return under.Command(ctx, target)
}
