package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/history"
)

// effect is an action that goes on.
type effect struct {
	label string
	name  string // of its action
	end   func(context.Context) error
	// commit ends a transaction that goes on otherwise than end, which rolls
	// it back. Nil for everything else.
	commit func(context.Context) error
}

// lasting is an action that goes on until End, or else until the run is over.
// Begin returns once it can be seen from outside that it took effect, and
// what end returns is seen then to be over.
func lasting(name string, begin func(context.Context, *Site) (end func(context.Context) error, err error)) Action {
	a := Action{Name: name, Label: name}
	a.Do = func(ctx context.Context, s *Site) error {
		end, err := begin(ctx, s)
		if err != nil {
			return err
		}
		s.keep(effect{label: name, name: name, end: end})
		return nil
	}
	return a
}

// As gives an action that goes on another label. It panics on one that
// doesn't.
func (a Action) As(label string) Action {
	if a.Label == "" {
		panic(fmt.Sprintf("fault: %q is over at once: nothing can end it", a.Name))
	}
	do := a.Do
	old := a.Label
	a.Label = label
	a.Do = func(ctx context.Context, s *Site) error {
		if err := do(ctx, s); err != nil {
			return err
		}
		s.relabel(old, label)
		return nil
	}
	return a
}

// End ends the action with this label, which is its name unless As gave it
// another.
func End(label string) Action {
	return Action{Name: "end: " + label, Do: func(ctx context.Context, s *Site) error {
		e, ok := s.take(label)
		if !ok {
			return fmt.Errorf("nothing of this name goes on")
		}
		return s.finishEffect(ctx, e)
	}}
}

func (s *Site) keep(e effect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects = append(s.effects, e)
}

func (s *Site) relabel(old, label string) {
	if e, ok := s.take(old); ok {
		e.label = label
		s.keep(e)
	}
}

// take removes the latest effect with this label; "" is any.
func (s *Site) take(label string) (effect, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.effects) - 1; i >= 0; i-- {
		if e := s.effects[i]; label == "" || e.label == label {
			s.effects = append(s.effects[:i:i], s.effects[i+1:]...)
			return e, true
		}
	}
	return effect{}, false
}

func (s *Site) finishEffect(ctx context.Context, e effect) error {
	if err := e.end(ctx); err != nil {
		return fmt.Errorf("end %q: %w", e.label, err)
	}
	s.Recorder.Mark(history.Mark{Lane: "fault", Name: history.MarkFaultEnded, Text: e.name, Data: map[string]string{"label": e.label}})
	return nil
}

// endAll ends all that still goes on, the latest first.
func (s *Site) endAll(ctx context.Context) error {
	var errs []error
	for {
		e, ok := s.take("")
		if !ok {
			return errors.Join(errs...)
		}
		errs = append(errs, s.finishEffect(ctx, e))
	}
}
