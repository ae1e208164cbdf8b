package fault

import (
	"context"
	"fmt"
	"time"
)

// staleFor is how long information_schema.INNODB_TRX shows again what it
// showed last, counted anew from each time it is read: who asks more often
// never learns anything new.
// Source: CACHE_MIN_IDLE_TIME in storage/innobase/trx/trx0i_s.cc.
const staleFor = 110 * time.Millisecond

// waitsForRow reports whether a session of the source waits for a lock of a
// row. It may say no up to staleFor too long: ask again. It does without
// performance_schema, which may be off.
func (s *Site) waitsForRow(ctx context.Context, session uint64) (bool, error) {
	source := s.Cluster.Source()
	waiting, err := source.Status(ctx, "Innodb_row_lock_current_waits")
	if err != nil || waiting == "0" {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.waitersRead) < staleFor {
		return false, nil
	}
	var waits bool
	err = source.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM information_schema.INNODB_TRX"+
		" WHERE trx_mysql_thread_id = ? AND trx_state = 'LOCK WAIT')", session).Scan(&waits)
	s.waitersRead = time.Now()
	if err != nil {
		return false, fmt.Errorf("ask whether session %d waits for a row: %w", session, err)
	}
	return waits, nil
}
