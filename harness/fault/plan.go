package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
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
	Writes []workload.Write
	Do     func(context.Context, *Site) error
}

// Site is where a plan acts.
type Site struct {
	Cluster  *topology.Cluster
	Proxy    *wire.Proxy // the subject's connections
	App      *sql.DB     // the application's, with the table's schema as default
	Table    fixtures.Table
	Schema   string
	Recorder *history.Recorder

	watchers sync.WaitGroup

	mu      sync.Mutex
	clients []*workload.Client
	pending []*workload.Pending
}

// moment arms itself on a site and returns a wait for its coming, and what
// lets the subject go on afterwards.
type moment struct {
	name string
	arm  func(*Site) (wait func(context.Context) error, release func())
}

// Before acts while the subject's first statement of a step is held, before
// the server has seen it.
func Before(s step.Step, actions ...Action) Fault {
	return Fault{gated(s, wire.Before), actions}
}

// After acts while the answer to the subject's first statement of a step is
// held: the server has done it, and the subject doesn't know.
func After(s step.Step, actions ...Action) Fault {
	return Fault{gated(s, wire.After), actions}
}

func gated(s step.Step, phase wire.Phase) moment {
	name := phase.String() + " " + string(s)
	return moment{name, func(site *Site) (func(context.Context) error, func()) {
		gate := site.Proxy.Gate(wire.Rule{Name: name, Step: s, Phase: phase, Occurrence: 1, Action: wire.Hold})
		wait := func(ctx context.Context) error {
			_, err := gate.Wait(ctx)
			return err
		}
		return wait, gate.Remove
	}}
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

// Keys returns the keys of all rows that the plan writes.
func (p Plan) Keys() []history.Key {
	var keys []history.Key
	for _, f := range p {
		for _, a := range f.actions {
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

// Arm sets all gates before it returns, so that no moment can be missed.
func (p Plan) Arm(ctx context.Context, site *Site) *Armed {
	ctx, cancel := context.WithCancel(ctx)
	a := &Armed{cancel: cancel}
	for _, f := range p {
		wait, release := f.moment.arm(site)
		a.group.Go(func() {
			defer release()
			if err := wait(ctx); err != nil {
				return // the moment never came: the record will lack the mark
			}
			if err := f.act(ctx, site); err != nil {
				a.fail(err)
			}
		})
	}
	return a
}

func (f Fault) act(ctx context.Context, site *Site) error {
	for _, action := range f.actions {
		if err := action.Do(ctx, site); err != nil {
			return fmt.Errorf("fault %q: %w", f.name(action), err)
		}
		site.Recorder.Mark(history.Mark{
			Lane: "fault", Name: history.MarkFaultFired, Text: action.Name,
			Data: map[string]string{"fault": f.name(action)},
		})
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

// client returns a new client of the application; Finish closes it.
func (s *Site) client() *workload.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := workload.NewClient("fault", s.App, s.Recorder)
	s.clients = append(s.clients, c)
	return c
}

func (s *Site) leave(p *workload.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, p)
}

// watch runs f beside everything else. It outlives the fault that starts it,
// and Finish waits for it.
func (s *Site) watch(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchLimit)
	s.watchers.Go(func() {
		defer cancel()
		f(ctx)
	})
}

// watchLimit is the longest that Finish can have to wait for a watcher.
const watchLimit = 30 * time.Second

// Finish waits for the operations that faults have left under way, and
// closes the clients.
func (s *Site) Finish(ctx context.Context) error {
	defer s.watchers.Wait()
	s.mu.Lock()
	pending, clients := s.pending, s.clients
	s.pending, s.clients = nil, nil
	s.mu.Unlock()
	var errs []error
	for _, p := range pending {
		if err := p.Wait(ctx); err != nil && ctx.Err() != nil {
			errs = append(errs, err) // its own failure is in the record
		}
	}
	if ctx.Err() == nil {
		for _, c := range clients {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
