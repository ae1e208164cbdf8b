package fault

import (
	"context"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// During acts once the subject's first statement of a step is on its way to
// the server. Nothing is held: the statement goes on while the actions do.
func During(s step.Step, actions ...Action) Fault {
	name := "during " + string(s)
	rule := wire.Rule{Name: name, Step: s, Phase: wire.Before, Occurrence: 1, Action: wire.Observe}
	return Fault{moment{name: name, steps: []step.Step{s}, arm: func(site *Site) (func(context.Context) error, func()) {
		gate := site.Proxy.Gate(rule)
		return func(ctx context.Context) error {
			_, err := gate.Wait(ctx)
			return err
		}, gate.Remove
	}}, actions}
}
