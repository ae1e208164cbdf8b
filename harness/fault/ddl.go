package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/observe"
	"rowproof/harness/workload"
)

// Alter has another session send ALTER TABLE for a table, with the text that
// comes after its name: "ADD COLUMN extra INT NULL". The definition must
// change by it.
func Alter(role Role, clause string) Action {
	return Action{Name: "alter the " + string(role) + ": " + clause, Do: func(ctx context.Context, s *Site) error {
		table, err := s.quoted(role)
		if err != nil {
			return err
		}
		return s.with(ctx, func(h *session) error {
			before, err := h.definition(ctx, table)
			if err != nil {
				return err
			}
			if err := h.exec(ctx, "ALTER TABLE "+table+" "+clause); err != nil {
				return err
			}
			after, err := h.definition(ctx, table)
			if err == nil && after == before {
				err = errors.New("the table's definition is what it was")
			}
			return err
		})
	}}
}

// RenameAway has another session give a table another name.
func RenameAway(role Role, to string) Action {
	return Action{Name: "rename the " + string(role) + " to " + to, Do: func(ctx context.Context, s *Site) error {
		table, err := s.table(role)
		if err != nil {
			return err
		}
		return s.rename(ctx, table.Name, to)
	}}
}

// RenameBack has another session give a table its own name again after
// RenameAway.
func RenameBack(from string, role Role) Action {
	return Action{Name: "rename " + from + " to the " + string(role) + " again", Do: func(ctx context.Context, s *Site) error {
		table, err := s.table(role)
		if err != nil {
			return err
		}
		return s.rename(ctx, from, table.Name)
	}}
}

func (s *Site) rename(ctx context.Context, from, to string) error {
	return s.with(ctx, func(h *session) error {
		if err := h.exec(ctx, "RENAME TABLE "+workload.Quote(from)+" TO "+workload.Quote(to)); err != nil {
			return err
		}
		t := observe.TableRef{Schema: s.Schema, Name: to}
		if _, err := observe.Describe(ctx, s.Cluster.Source().DB, t); err != nil {
			return fmt.Errorf("look for the renamed table: %w", err)
		}
		return nil
	})
}

func (h *session) definition(ctx context.Context, table string) (text string, err error) {
	var name string
	if err := h.conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
		return "", fmt.Errorf("read the definition of %s: %w", table, err)
	}
	return text, nil
}
