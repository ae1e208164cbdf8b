package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// WaitFor waits until a query on the source returns 1, as root with the
// table's schema as default.
func WaitFor(query string) Action {
	return Action{Name: "wait for " + query, Do: func(ctx context.Context, s *Site) error {
		return s.with(ctx, func(h *session) error {
			return every(ctx, func() (bool, error) {
				var got sql.NullString
				err := h.conn.QueryRowContext(ctx, query).Scan(&got)
				if err != nil && !errors.Is(err, sql.ErrNoRows) {
					return false, fmt.Errorf("%s: %w", query, err)
				}
				return got.String == "1", nil
			})
		})
	}}
}

// WaitBlocked waits until a statement of the subject, of one of these steps,
// waits on the server for a lock or an ACK.
func WaitBlocked(steps ...step.Step) Action {
	name := "wait until the subject waits in"
	for _, st := range steps {
		name += " " + string(st)
	}
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		return every(ctx, func() (bool, error) { return s.waits(ctx, of(steps...)) })
	}}
}

// WaitApplied waits until the subject's shadow table holds what the writes
// leave, as a plain read sees it. Columns must keep their names, and
// increments can't be recognised.
func WaitApplied(writes ...workload.Write) Action {
	return Action{Name: "wait until the shadow holds " + summary(writes), Do: func(ctx context.Context, s *Site) error {
		for _, w := range writes {
			for _, c := range w.Changes {
				if len(c.Add) > 0 {
					return fmt.Errorf("an increment can't be recognised: %s", w.SQL)
				}
			}
		}
		shadow, err := s.table(Shadow)
		if err != nil {
			return err
		}
		return every(ctx, func() (bool, error) {
			for _, w := range writes {
				if ok, err := s.holds(ctx, shadow, w); !ok || err != nil {
					return false, err
				}
			}
			return true, nil
		})
	}}
}

// holds reports whether a table has all that a write leaves.
func (s *Site) holds(ctx context.Context, table observe.TableRef, w workload.Write) (bool, error) {
	for _, c := range w.Changes {
		keys := []history.Key{c.Key}
		if c.Kind == history.Move {
			keys = append(keys, c.NewKey)
		}
		rows, err := observe.Rows(ctx, s.Cluster.Source().DB, table, keys)
		if err != nil {
			return false, err
		}
		gone := c.Kind != history.Move || rows[c.Key] == nil
		if !gone || !shows(c, rows[keys[len(keys)-1]]) {
			return false, nil
		}
	}
	return true, nil
}
