package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Plan is the faults of one run. They wait for their moments side by side.
type Plan []Fault

// Fault is what happens at one moment.
type Fault struct {
	moment  moment
	actions []Action
}

// Action is one thing that a fault does. It returns when it can be seen from
// outside that it took effect.
type Action struct {
	Name   string // as in a sentence: "stop the replica's IO thread"
	Label  string // of an action that goes on: what End calls it
	Writes []workload.Write
	Reads  []history.Key // rows whose reads are in the ledger
	Steps  []step.Step   // that the subject must have, beside that of the moment
	Do     func(context.Context, *Site) error
}

// name of an action within its fault: "before attach: stop the IO thread …".
func (f Fault) name(a Action) string { return f.moment.name + ": " + a.Name }

// Names returns the names of all actions, as Record.Planned holds them.
func (p Plan) Names() []string {
	var names []string
	for _, f := range p {
		for _, a := range f.actions {
			names = append(names, f.name(a))
		}
	}
	return names
}

// Steps returns the steps that a subject must have for every fault to fire,
// each once.
func (p Plan) Steps() []step.Step {
	var steps []step.Step
	add := func(more []step.Step) {
		for _, s := range more {
			if !slices.Contains(steps, s) {
				steps = append(steps, s)
			}
		}
	}
	for _, f := range p {
		add(f.moment.steps)
		for _, a := range f.actions {
			add(a.Steps)
		}
	}
	return steps
}

// In returns the plan with a prefix before the names of its moments, that
// tells it from the plans of other runs of the subject.
func (p Plan) In(prefix string) Plan {
	named := make(Plan, len(p))
	for i, f := range p {
		f.moment.name = prefix + ", " + f.moment.name
		named[i] = f
	}
	return named
}

// Keys returns the keys of all rows that the plan writes or reads.
func (p Plan) Keys() []history.Key {
	var keys []history.Key
	for _, f := range p {
		for _, a := range f.actions {
			keys = append(keys, a.Reads...)
			for _, w := range a.Writes {
				for _, c := range w.Changes {
					keys = append(keys, c.Key)
					if c.NewKey != "" {
						keys = append(keys, c.NewKey)
					}
				}
			}
		}
	}
	return keys
}

// Armed is a plan that waits for its moments.
type Armed struct {
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu  sync.Mutex
	err error
}

// Arm sets all gates before it returns, so that no moment can be missed. What
// comes first has been done by then; if that went wrong, Stop says so.
func (p Plan) Arm(ctx context.Context, site *Site) *Armed {
	ctx, cancel := context.WithCancel(ctx)
	a := &Armed{cancel: cancel}
	for _, f := range p {
		wait, release := f.moment.arm(site)
		if f.moment.first {
			a.fail(f.act(ctx, site))
			continue
		}
		a.group.Go(func() {
			if err := wait(ctx); err != nil {
				release()
				if ctx.Err() == nil && !errors.Is(err, wire.ErrGateClosed) {
					a.fail(fmt.Errorf("wait for the moment %q: %w", f.moment.name, err))
				}
				return // the moment never came: the record will lack the mark
			}
			a.fail(f.carryOut(ctx, site, release))
		})
	}
	return a
}

// carryOut acts while the moment lasts, which release ends.
func (f Fault) carryOut(ctx context.Context, site *Site, release func()) error {
	if f.moment.wire == "" {
		defer release()
		return f.act(ctx, site)
	}
	e := effect{label: f.moment.wire, name: f.actions[0].Name, end: func(context.Context) error { release(); return nil }}
	if f.moment.stays {
		site.keep(e)
		return f.act(ctx, site)
	}
	return errors.Join(f.act(ctx, site), site.finishEffect(ctx, e))
}

func (f Fault) act(ctx context.Context, site *Site) error {
	for _, action := range f.actions {
		if err := action.Do(ctx, site); err != nil {
			return fmt.Errorf("fault %q: %w", f.name(action), err)
		}
		data := map[string]string{"fault": f.name(action)}
		if action.Label != "" {
			data["label"] = action.Label
		}
		site.Recorder.Mark(history.Mark{Lane: "fault", Name: history.MarkFaultFired, Text: action.Name, Data: data})
		site.announce(f.name(action), action.Name, action.Label)
	}
	return nil
}

func (a *Armed) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
}

// Stop ends all waiting, releases all gates, and returns what went wrong
// with an action. A moment that never came is not an error.
func (a *Armed) Stop() error {
	a.cancel()
	a.group.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}
