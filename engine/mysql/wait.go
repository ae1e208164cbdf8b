package mysql

import (
	"context"
	"time"
)

// Backoff spaces the tries of something that may run twice. Its zero value
// is ready.
type Backoff struct{ pause time.Duration }

// Wait pauses before another try where the connection was lost, for twice as
// long each time, up to five seconds. After any other error the server itself
// has made us wait. It reports false when ctx ended first.
func (b *Backoff) Wait(ctx context.Context, err error) bool {
	if !ConnectionLost(err) {
		return ctx.Err() == nil
	}
	b.pause = min(max(2*b.pause, 50*time.Millisecond), 5*time.Second)
	return Wait(ctx, b.pause)
}

// Persist does what may run twice until it ends otherwise than by losing the
// connection, or until ctx ends.
func Persist(ctx context.Context, do func() error) error {
	err := do()
	for again := new(Backoff); ConnectionLost(err) && again.Wait(ctx, err); {
		err = do()
	}
	return err
}

// Wait pauses before another try; it reports false when ctx ended first.
func Wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
