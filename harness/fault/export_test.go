package fault

import "context"

// WaitsForRow makes waitsForRow known to the tests.
func (s *Site) WaitsForRow(ctx context.Context, session uint64) (bool, error) {
	return s.waitsForRow(ctx, session)
}
