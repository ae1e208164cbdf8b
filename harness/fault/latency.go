package fault

import (
	"fmt"
	"time"
)

// Latency makes every byte on a path arrive later, in each direction: an
// answer takes twice as long.
func Latency(p Path, d time.Duration) Action { return Jitter(p, d, 0) }

// Jitter is Latency that is up to this much more or less each time.
func Jitter(p Path, d, jitter time.Duration) Action {
	name := fmt.Sprintf("latency of %s", d)
	if jitter > 0 {
		name += fmt.Sprintf(" ± %s", jitter)
	}
	return p.toxic(name, "latency", map[string]any{"latency": d.Milliseconds(), "jitter": jitter.Milliseconds()})
}
