package fault

import (
	"context"
	"fmt"
	"time"
)

// seenLimit is how long the effect of an action on servers may take to show.
const seenLimit = 20 * time.Second

// seen waits until a condition holds, and names what it waited for if it
// doesn't come to.
func seen(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, seenLimit, fmt.Errorf("it was not seen within %v", seenLimit))
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := holds(ctx)
		switch {
		case ctx.Err() != nil && !ok:
			return fmt.Errorf("wait until %s: %w", what, context.Cause(ctx))
		case err != nil:
			return fmt.Errorf("wait until %s: %w", what, err)
		case ok:
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
