//go:build !linux

package freeze

import (
	"context"
	"errors"
	"time"
)

func (t *Thread) own(_ context.Context, _ time.Duration, started chan<- error) {
	started <- errors.New("only Linux can freeze one thread, and only where the server runs")
}
