package throttle

import (
	"context"
	"time"
)

// Pacer is the Wait of one worker, with the rests that NiceRatio asks for.
type Pacer struct {
	throttle *Throttle
	began    time.Time // the chunk that the worker is at
}

// Pacer returns a pacer for one worker.
func (t *Throttle) Pacer() *Pacer { return &Pacer{throttle: t} }

// Wait rests in proportion to the time since it last returned, which is what
// the chunk before took, and then waits until nothing asks to wait.
func (p *Pacer) Wait(ctx context.Context) error {
	ratio := p.throttle.Limits().NiceRatio
	if ratio > 0 && !p.began.IsZero() {
		rest := time.NewTimer(time.Duration(ratio * float64(time.Since(p.began))))
		select {
		case <-ctx.Done():
		case <-rest.C:
		}
		rest.Stop()
	}
	err := p.throttle.Wait(ctx)
	p.began = time.Now()
	return err
}
