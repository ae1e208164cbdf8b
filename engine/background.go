package engine

import (
	"context"
	"sync"
)

// background runs what goes on beside the phases: the stream, the applier
// and the watch over the advisory lock. The first of them that fails cancels
// ctx with its error as the cause.
type background struct {
	ctx    context.Context // ends with the run, or with the first failure
	cancel context.CancelCauseFunc
	group  sync.WaitGroup
}

func newBackground(ctx context.Context) *background {
	b := new(background)
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	return b
}

func (b *background) run(task func(context.Context) error) {
	b.group.Go(func() {
		if err := task(b.ctx); err != nil {
			b.cancel(err)
		}
	})
}

// stop ends all tasks and waits for them.
func (b *background) stop() {
	b.cancel(context.Canceled)
	b.group.Wait()
}
