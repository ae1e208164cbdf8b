package fault

import (
	"context"
	"fmt"
	"strings"

	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// LockRows has another session lock rows of a table, which must be there,
// with SELECT … FOR UPDATE in a transaction that it leaves open.
func LockRows(role Role, keys ...history.Key) Action {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = string(k)
	}
	return holding("lock row "+strings.Join(texts, ", ")+" of the "+string(role), func(ctx context.Context, s *Site, h *session) error {
		table, err := s.quoted(role)
		if err != nil {
			return err
		}
		statements := []string{"START TRANSACTION"}
		for _, k := range keys {
			// DO throws the rows away that the driver would have to read.
			statements = append(statements, "DO (SELECT 1 FROM "+table+" WHERE "+workload.Condition(s.Table, k)+" FOR UPDATE)")
		}
		if err := h.exec(ctx, statements...); err != nil {
			return err
		}
		return s.seeLocked(ctx, role, keys...)
	})
}

// errLockedNow is the server's answer to NOWAIT.
const errLockedNow = 3572

// seeLocked has one more session find that rows are locked.
func (s *Site) seeLocked(ctx context.Context, role Role, keys ...history.Key) error {
	table, err := s.quoted(role)
	if err != nil {
		return err
	}
	for _, k := range keys {
		statement := "DO (SELECT 1 FROM " + table + " WHERE " + workload.Condition(s.Table, k) + " FOR UPDATE NOWAIT)"
		_, err := s.Cluster.Source().DB.ExecContext(ctx, statement)
		if err == nil {
			return fmt.Errorf("row %s of the %s is not locked: is it there?", k, role)
		}
		if !isCode(err, errLockedNow) {
			return fmt.Errorf("look whether row %s of the %s is locked: %w", k, role, err)
		}
	}
	return nil
}
