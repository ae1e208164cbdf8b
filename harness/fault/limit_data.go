package fault

import "fmt"

// LimitData closes each connection on a path once so many bytes have passed
// in one direction.
func LimitData(p Path, bytes int64) Action {
	return p.toxic(fmt.Sprintf("limit of %d bytes", bytes), "limit_data", map[string]any{"bytes": bytes})
}
