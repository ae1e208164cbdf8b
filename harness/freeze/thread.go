package freeze

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrThawedByWatchdog says that a thread was frozen for longer than its limit
// and has gone on by itself.
var ErrThawedByWatchdog = errors.New("the watchdog thawed it")

// Thread is a thread that is frozen. It goes on at Thaw, when its context
// ends, after its limit, and when this process ends, however that ends.
type Thread struct {
	id   int
	once sync.Once
	thaw chan struct{} // closed by Thaw
	done chan struct{}
	err  error // valid once done is closed
}

// Freeze freezes the thread of this number and returns when it stands still.
// It fails with one line if the system or the rights don't allow it.
func Freeze(ctx context.Context, id int, limit time.Duration) (*Thread, error) {
	t := &Thread{id: id, thaw: make(chan struct{}), done: make(chan struct{})}
	started := make(chan error)
	go t.own(ctx, limit, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("freeze thread %d: %w", id, err)
	}
	return t, nil
}

// Thaw lets the thread go on and returns once it does. A thread that has
// ended meanwhile, with its process, is no error; it is ErrThawedByWatchdog
// if the thread did not stand still until now.
func (t *Thread) Thaw() error {
	t.once.Do(func() { close(t.thaw) })
	<-t.done
	if t.err != nil {
		return fmt.Errorf("thaw thread %d: %w", t.id, t.err)
	}
	return nil
}

// Done is closed once the thread is not frozen any more.
func (t *Thread) Done() <-chan struct{} { return t.done }
