package fault

import (
	"fmt"
	"regexp"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// Statement says which statements of the subject a fault on the wire is
// about: a step stands for its first statement, a Pick for any other.
type Statement interface{ step.Step | Pick }

// Pick picks statements of the subject: without more, the first.
type Pick struct {
	step    step.Step
	or      step.Step
	pattern *regexp.Regexp
	nth     int // 0: the first
	every   bool
}

// Of picks among the statements of a step.
func Of(s step.Step) Pick { return Pick{step: s} }

// Or picks among the statements of another step as well, for subjects that
// differ in which of the two they have.
func (p Pick) Or(s step.Step) Pick {
	p.or = s
	return p
}

// Matching picks among all statements whose text matches, for what is no
// step.
func Matching(pattern *regexp.Regexp) Pick { return Pick{pattern: pattern} }

// Nth picks the n-th since the run began, counted from 1.
func (p Pick) Nth(n int) Pick {
	p.nth, p.every = n, false
	return p
}

// Every picks all of them.
func (p Pick) Every() Pick {
	p.nth, p.every = 0, true
	return p
}

func pick[S Statement](s S) Pick {
	if p, ok := any(s).(Pick); ok {
		return p
	}
	return Of(any(s).(step.Step))
}

func (p Pick) rule(phase wire.Phase, action wire.Action) wire.Rule {
	if phase == wire.After && p.step.Writes() {
		phase = wire.Committed
	}
	r := wire.Rule{Step: p.step, Or: p.or, Pattern: p.pattern, Phase: phase, Occurrence: max(p.nth, 1), Action: action}
	if p.every {
		r.Occurrence = 0
	}
	return r
}

// held is the moment at which the proxy holds the statement. It panics on
// every statement: the first would let go of all that follow.
func (p Pick) held(phase wire.Phase) moment {
	rule := p.rule(phase, wire.Hold)
	if p.every {
		panic(fmt.Sprintf("fault: %s: a hold is for one statement, use Nth", ruleName(rule)))
	}
	return gated(rule)
}
