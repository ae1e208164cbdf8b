package fault

import (
	"fmt"
	"time"
)

// SlowClose makes the end of a connection on a path arrive later.
func SlowClose(p Path, d time.Duration) Action {
	return p.toxic(fmt.Sprintf("closing delayed by %s", d), "slow_close", map[string]any{"delay": d.Milliseconds()})
}
