package topology

import (
	"context"
	"fmt"
	"time"
)

// pollInterval is how often a condition is asked for that nothing announces.
const pollInterval = 5 * time.Millisecond

// poll asks until done says so, and names what it waited for if ctx ends
// first.
func poll(ctx context.Context, what string, done func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		ok, err := done()
		switch {
		case ctx.Err() != nil && !ok:
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case ok:
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
}
