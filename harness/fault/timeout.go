package fault

import (
	"fmt"
	"time"
)

// Timeout lets no byte pass on a path, and closes each connection after this
// time.
func Timeout(p Path, d time.Duration) Action {
	return p.toxic(fmt.Sprintf("silence and a timeout of %s", d), "timeout", map[string]any{"timeout": d.Milliseconds()})
}
