package fault

import "context"

// OldSnapshot has another session open a transaction with a consistent
// snapshot and leave it open: old versions of rows are kept until that ends.
func OldSnapshot() Action {
	return holding("hold an old snapshot", func(ctx context.Context, s *Site, h *session) error {
		return h.exec(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	})
}
