package fault

import (
	"context"
	"fmt"
	"slices"
)

// wired is a fault that the proxy itself carries out at a moment: it has
// fired once the gate has acted.
func wired(m moment, stays bool, name string) Fault {
	f := Fault{m, []Action{done(name)}}
	f.moment.wire, f.moment.stays = f.name(f.actions[0]), stays
	f.actions[0].Label = f.moment.wire
	return f
}

// done is the action of a fault that the proxy has carried out by then.
func done(name string) Action {
	return Action{Name: name, Do: func(context.Context, *Site) error { return nil }}
}

// As gives a fault that goes on a label for End: it is "MOMENT: ACTION"
// otherwise. As panics on a fault that doesn't go on.
func (f Fault) As(label string) Fault {
	if !f.moment.stays {
		panic(fmt.Sprintf("fault: %q is over at once: nothing can end it", f.moment.name))
	}
	f.moment.wire = label
	f.actions = slices.Clone(f.actions)
	f.actions[0].Label = label
	return f
}
