package engine

import (
	"context"
	"sync"
	"time"
)

// pace lets the copy give way to the application. While others change rows,
// one worker copies, in short statements: each keeps the rows it reads
// locked, and takes processor time that a writer waits for. While nobody
// does, all workers copy in longer statements, which is faster.
type pace struct {
	mu      sync.Mutex
	busy    bool
	changed chan struct{} // closed and replaced when busy changes
}

const (
	paceEvery = 250 * time.Millisecond
	busyRate  = 20 // changes of rows a second, by others, on any table

	// How long one statement of the copy is to take.
	calmGoal = 150 * time.Millisecond
	busyGoal = 8 * time.Millisecond
)

func newPace() *pace { return &pace{changed: make(chan struct{})} }

// watch judges by the changes that have been counted so far, until ctx ends,
// which is not an error. It tells aim how long a statement may take.
func (p *pace) watch(ctx context.Context, count func() int64, aim func(time.Duration)) error {
	tick := time.NewTicker(paceEvery)
	defer tick.Stop()
	last := count()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := count()
		busy := float64(now-last)/paceEvery.Seconds() > busyRate
		last = now
		p.set(busy)
		if busy {
			aim(busyGoal)
		} else {
			aim(calmGoal)
		}
	}
}

func (p *pace) set(busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy != busy {
		p.busy = busy
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// calm waits until the application is not busy, and reports false if ctx
// ends before that.
func (p *pace) calm(ctx context.Context) bool {
	for ctx.Err() == nil {
		p.mu.Lock()
		busy, changed := p.busy, p.changed
		p.mu.Unlock()
		if !busy {
			return true
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return false
}
