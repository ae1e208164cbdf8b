package fault

import "context"

// Partition lets no byte pass on a path: connections stay open, and new ones
// are accepted. Its end breaks those that lived through it.
func Partition(p Path) Action {
	return lasting("partition of "+p.name, func(_ context.Context, s *Site) (func(context.Context) error, error) {
		link, err := p.open(s)
		if err != nil {
			return nil, err
		}
		return link.Heal, link.Partition()
	})
}
