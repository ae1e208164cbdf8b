package fault

import "context"

// Reset breaks all connections on a path; both sides see a reset. New ones
// are let through.
func Reset(p Path) Action {
	return Action{Name: "reset of " + p.name, Do: func(_ context.Context, s *Site) error {
		link, err := p.open(s)
		if err != nil {
			return err
		}
		link.Reset()
		return nil
	}}
}

// Refuse breaks all connections on a path and refuses new ones.
func Refuse(p Path) Action {
	return lasting("refusal on "+p.name, func(_ context.Context, s *Site) (func(context.Context) error, error) {
		link, err := p.open(s)
		if err != nil {
			return nil, err
		}
		link.Down()
		return func(context.Context) error { link.Up(); return nil }, nil
	})
}
