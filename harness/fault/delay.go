package fault

import (
	"context"
	"fmt"
	"time"
)

// Delay sends a statement of the subject later than the subject did.
func Delay[S Statement](s S, by time.Duration) Fault { return Before(s, delay(by)...) }

// DelayReply delivers the answer to a statement of the subject later than it
// came.
func DelayReply[S Statement](s S, by time.Duration) Fault { return After(s, delay(by)...) }

// delay is the two ends of a wait. The time is at least this long.
func delay(by time.Duration) []Action {
	name := fmt.Sprintf("delay it by %s", by)
	return []Action{
		lasting(name, func(context.Context, *Site) (func(context.Context) error, error) {
			timer := time.NewTimer(by)
			return func(ctx context.Context) error {
				defer timer.Stop()
				select {
				case <-timer.C:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}, nil
		}),
		End(name),
	}
}
