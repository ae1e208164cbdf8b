package fault

import (
	"context"
	"fmt"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// moment arms itself on a site and returns a wait for its coming, and what
// lets the subject go on afterwards.
type moment struct {
	name  string
	steps []step.Step // that the subject must have for it to come
	first bool        // it is there before the subject starts
	arm   func(*Site) (wait func(context.Context) error, release func())
}

// First acts before the subject starts, and after the application has.
func First(actions ...Action) Fault {
	return Fault{moment{name: "first", first: true, arm: func(*Site) (func(context.Context) error, func()) {
		return func(context.Context) error { return nil }, func() {}
	}}, actions}
}

// Before acts while the subject's first statement of a step is held, before
// the server has seen it.
func Before(s step.Step, actions ...Action) Fault { return BeforeNth(1, s, actions...) }

// After acts while the answer to the subject's first statement of a step is
// held: the server has done it, and the subject doesn't know.
func After(s step.Step, actions ...Action) Fault { return AfterNth(1, s, actions...) }

// BeforeNth is Before for the n-th statement of the step, counted from 1.
func BeforeNth(n int, s step.Step, actions ...Action) Fault {
	return Fault{gated(wire.Rule{Step: s, Phase: wire.Before, Occurrence: n, Action: wire.Hold}), actions}
}

// AfterNth is After for the n-th statement of the step, counted from 1.
func AfterNth(n int, s step.Step, actions ...Action) Fault {
	return Fault{gated(wire.Rule{Step: s, Phase: wire.After, Occurrence: n, Action: wire.Hold}), actions}
}

// gated is the moment at which the proxy acts by a rule on one statement.
func gated(rule wire.Rule) moment {
	rule.Name = ruleName(rule)
	return moment{name: rule.Name, steps: []step.Step{rule.Step}, arm: func(site *Site) (func(context.Context) error, func()) {
		gate := site.Proxy.Gate(rule)
		wait := func(ctx context.Context) error {
			_, err := gate.Wait(ctx)
			return err
		}
		return wait, gate.Remove
	}}
}

// ruleName is "before copy-write", or "before copy-write #2".
func ruleName(r wire.Rule) string {
	name := r.Phase.String() + " " + string(r.Step)
	if r.Occurrence > 1 {
		name += fmt.Sprintf(" #%d", r.Occurrence)
	}
	return name
}
