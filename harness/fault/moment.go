package fault

import (
	"context"
	"fmt"
	"strings"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// moment arms itself on a site and returns a wait for its coming, and what
// lets the subject go on afterwards.
type moment struct {
	name  string
	steps []step.Step // that the subject must have for it to come
	first bool        // it is there before the subject starts
	wire  string      // the label of what the proxy itself does at it; "" for nothing but holding
	stays bool        // and the proxy goes on with it until End, or until the run is over
	arm   func(*Site) (wait func(context.Context) error, release func())
}

// First acts before the subject starts, and after the application has.
func First(actions ...Action) Fault {
	return Fault{moment{name: "first", first: true, arm: func(*Site) (func(context.Context) error, func()) {
		return func(context.Context) error { return nil }, func() {}
	}}, actions}
}

// Before acts while a statement of the subject is held, before the server has
// seen it.
func Before[S Statement](s S, actions ...Action) Fault {
	return Fault{pick(s).held(wire.Before), actions}
}

// After acts while the answer to a statement of the subject is held: the
// server has done it, and the subject doesn't know. Where the statement wrote
// rows in a transaction of several, that is the answer to its COMMIT.
func After[S Statement](s S, actions ...Action) Fault {
	return Fault{pick(s).held(wire.After), actions}
}

// BeforeNth is Before for the n-th statement of the step, counted from 1.
func BeforeNth(n int, s step.Step, actions ...Action) Fault {
	return Before(Of(s).Nth(n), actions...)
}

// AfterNth is After for the n-th statement of the step, counted from 1.
func AfterNth(n int, s step.Step, actions ...Action) Fault {
	return After(Of(s).Nth(n), actions...)
}

// gated is the moment at which the proxy acts by a rule on one statement.
func gated(rule wire.Rule) moment {
	rule.Name = ruleName(rule)
	var steps []step.Step
	if rule.Step != "" && rule.Or == "" {
		steps = []step.Step{rule.Step}
	}
	return moment{name: rule.Name, steps: steps, arm: func(site *Site) (func(context.Context) error, func()) {
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
	name := string(r.Step)
	if r.Or != "" {
		name += " or " + string(r.Or)
	}
	if r.Pattern != nil {
		name = strings.TrimSpace(name + " /" + r.Pattern.String() + "/")
	}
	switch {
	case r.Occurrence == 0:
		name = "every " + name
	case r.Occurrence > 1:
		name += fmt.Sprintf(" #%d", r.Occurrence)
	}
	return r.Phase.String() + " " + name
}
