package fault

import (
	"context"
	"fmt"
	"time"
)

// Limits of actions on servers and processes.
const (
	seenLimit   = 20 * time.Second // until an effect shows
	settleLimit = time.Minute      // of an action as a whole: a server may have to boot
)

// settle gives an action a context in which it comes to its end although the
// subject may have ended by it, which ends the waiting of the whole plan: a
// server that it has stopped must be started, and what it did be recorded.
func settle(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
}

// seen waits until a condition holds, and names what it waited for if it
// doesn't come to.
func seen(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, seenLimit, fmt.Errorf("it was not seen within %v", seenLimit))
	defer cancel()
	err := every(ctx, func() (bool, error) { return holds(ctx) })
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("wait until %s: %w", what, err)
	}
	return nil
}
