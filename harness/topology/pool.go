package topology

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Limits of a pool.
const (
	defaultIdle  = 4 // clusters kept warm: about 160 MB for each server
	resetTimeout = 5 * time.Second
)

// Pool keeps clusters warm between scenarios. The zero value is ready for
// use; many goroutines may use it.
type Pool struct {
	// Idle is how many clusters are kept warm at most; 0 means 4. Fewer than
	// are in use at once means to start clusters again and again.
	Idle int

	// Discarded, if it is set, is told why a cluster that was called clean
	// is not kept.
	Discarded func(reason error)

	mu     sync.Mutex
	idle   []*Cluster // oldest first
	closed bool
}

// Get hands out a clean cluster of this spec, a warm one or a new one. The
// caller gives it back with Put.
func (p *Pool) Get(ctx context.Context, spec Spec) (*Cluster, error) {
	if c := p.take(spec.key()); c != nil {
		return c, nil
	}
	return Start(ctx, spec)
}

func (p *Pool) take(key string) *Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.idle {
		if c.spec.key() == key {
			p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
			return c
		}
	}
	return nil
}

// Put takes a cluster back. The caller says with clean whether it believes
// the cluster to be worth keeping; then it is reset (sessions ended,
// databases dropped, replicas caught up) and compared with what it was, and
// kept if nothing differs. Otherwise it is closed.
func (p *Pool) Put(ctx context.Context, c *Cluster, clean bool) error {
	if !clean {
		return c.Close()
	}
	resetCtx, cancel := context.WithTimeout(ctx, resetTimeout)
	defer cancel()
	if err := c.reset(resetCtx); err != nil {
		// Not an error of anybody's: it was used in a way that can't be undone.
		if p.Discarded != nil {
			p.Discarded(err)
		}
		return c.Close()
	}
	if dropped := p.keep(c); dropped != nil {
		return dropped.Close()
	}
	return nil
}

// keep adds a cluster and returns the one that has to go for it, if any.
func (p *Pool) keep(c *Cluster) *Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return c
	}
	p.idle = append(p.idle, c)
	if len(p.idle) <= p.most() {
		return nil
	}
	oldest := p.idle[0]
	p.idle = p.idle[1:]
	return oldest
}

func (p *Pool) most() int {
	if p.Idle == 0 {
		return defaultIdle
	}
	return p.Idle
}

// Close closes the clusters that are kept. One that is put back later is
// closed then.
func (p *Pool) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	errs := make([]error, len(idle))
	var wg sync.WaitGroup
	for i, c := range idle {
		wg.Go(func() { errs[i] = c.Close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
