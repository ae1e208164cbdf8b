package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Timeout lets no byte pass on a path for this time and then breaks all
// connections: what stands between the two has given them up.
func Timeout(p Path, d time.Duration) Action {
	return Action{Name: fmt.Sprintf("silence of %s on %s", d, p.name), Do: func(ctx context.Context, s *Site) error {
		link, err := p.open(s)
		if err != nil {
			return err
		}
		if err := link.Partition(); err != nil {
			return err
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		var ended error
		select {
		case <-timer.C:
		case <-ctx.Done():
			ended = ctx.Err()
		}
		return errors.Join(ended, link.Heal(context.WithoutCancel(ctx)))
	}}
}
