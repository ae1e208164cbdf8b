package fault

import (
	"context"
	"fmt"
)

// OldSnapshot has another session open a transaction with a consistent
// snapshot and leave it open: old versions of rows are kept until that ends.
func OldSnapshot() Action {
	return holding("hold an old snapshot", func(ctx context.Context, s *Site, h *session) error {
		if err := h.exec(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
			return err
		}
		// The server renews this table every tenth of a second.
		return every(ctx, func() (bool, error) {
			var open bool
			err := s.Cluster.Source().DB.QueryRowContext(ctx,
				"SELECT EXISTS (SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ?)", h.id).Scan(&open)
			if err != nil {
				return false, fmt.Errorf("look for the transaction: %w", err)
			}
			return open, nil
		})
	})
}
