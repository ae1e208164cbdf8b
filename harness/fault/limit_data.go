package fault

import (
	"context"
	"fmt"
)

// LimitData breaks each connection on a path once it has carried so many
// bytes in one direction since it was opened.
func LimitData(p Path, bytes int64) Action {
	return lasting(fmt.Sprintf("limit of %d bytes on %s", bytes, p.name), func(_ context.Context, s *Site) (func(context.Context) error, error) {
		if bytes <= 0 {
			return nil, fmt.Errorf("limit of %d bytes: want 1 or more", bytes)
		}
		link, err := p.open(s)
		if err != nil {
			return nil, err
		}
		link.Limit(bytes)
		return func(context.Context) error { link.Limit(0); return nil }, nil
	})
}
