package fault

import (
	"context"
	"fmt"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// OnceSent acts once the server has been sent a statement of the subject, and
// holds nothing.
func OnceSent[S Statement](s S, actions ...Action) Fault {
	return Fault{pick(s).seen(wire.Before), actions}
}

// OnceAnswered acts once the server has answered a statement of the subject,
// and holds nothing.
func OnceAnswered[S Statement](s S, actions ...Action) Fault {
	return Fault{pick(s).seen(wire.After), actions}
}

func (p Pick) seen(phase wire.Phase) moment {
	p.every = false
	m := gated(p.rule(phase, wire.Observe))
	m.name = "once " + m.name
	return m
}

// Signal does nothing: it is what Until waits for.
func Signal(name string) Action { return done(name) }

// Until waits for another fault of the plan: until an action of this name or
// label has fired, be it long ago. So a statement can be held until the
// subject has come to another one elsewhere:
//
//	fault.Before(step.CopyWrite, fault.Until("both read")),
//	fault.OnceAnswered(fault.Of(step.CopyRead).Nth(2), fault.Signal("both read")),
func Until(name string) Action {
	return Action{Name: "wait for: " + name, Do: func(ctx context.Context, s *Site) error {
		select {
		case <-s.firing(name):
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait until %q has fired: %w", name, ctx.Err())
		}
	}}
}

// UntilAnswered waits until the server has answered a statement of the subject,
// the first of a step that it answers from now on.
func UntilAnswered(s step.Step) Action {
	name := "wait for the next " + string(s)
	return Action{Name: name, Steps: []step.Step{s}, Do: func(ctx context.Context, site *Site) error {
		if _, err := site.Proxy.Await(ctx, s, wire.After); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}}
}

// firing returns what is closed once an action of this name has fired.
func (s *Site) firing(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fired == nil {
		s.fired = make(map[string]chan struct{})
	}
	if s.fired[name] == nil {
		s.fired[name] = make(chan struct{})
	}
	return s.fired[name]
}

// announce says under which names an action has fired.
func (s *Site) announce(names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		fired := s.firing(name)
		s.mu.Lock()
		select {
		case <-fired:
		default:
			close(fired)
		}
		s.mu.Unlock()
	}
}
