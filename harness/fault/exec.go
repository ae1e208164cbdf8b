package fault

import "context"

// Exec sends a statement to the source, as root with the table's schema as
// default. It must change no row of the table: that is for Write and its like.
func Exec(statement string) Action {
	return Action{Name: "run " + statement, Do: func(ctx context.Context, s *Site) error {
		return s.with(ctx, func(h *session) error { return h.exec(ctx, statement) })
	}}
}
