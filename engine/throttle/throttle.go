package throttle

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Reason says why the copy waits. The zero value: it need not.
type Reason struct {
	Check string // what asked for it: "operator", "flag file", "load", "history", "lag", "source"
	Text  string // in words, with the numbers of the last look
}

// Throttle decides whether the copy may go on.
type Throttle struct {
	servers Servers
	every   time.Duration
	log     *slog.Logger
	again   chan struct{} // asks for a look at once

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever something below changes
	limits  Limits
	looked  bool // the first look is done
	paused  bool
	found   Reason // at the last look
	told    string // the check that was logged last
}

// Config is what a Throttle starts with.
type Config struct {
	Limits Limits
	Every  time.Duration // between two looks; 0 means half a second
	Log    *slog.Logger
}

// New returns a throttle; Run makes it look.
func New(servers Servers, cfg Config) *Throttle {
	if cfg.Every == 0 {
		cfg.Every = 500 * time.Millisecond
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Throttle{
		servers: servers, limits: cfg.Limits, every: cfg.Every, log: cfg.Log,
		again: make(chan struct{}, 1), changed: make(chan struct{}),
	}
}

// Run looks at the servers and files until ctx ends, which is not an error.
// It returns an error when the load is critical.
func (t *Throttle) Run(ctx context.Context) error {
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pulse := newPulse(t.servers.Beat, t.lookAgain, t.every)
	beaten := make(chan error, 1)
	if len(t.servers.Replicas) > 0 {
		group.Go(func() { beaten <- pulse.run(ctx) })
	}
	tick := time.NewTicker(t.every)
	defer tick.Stop()
	for {
		found, err := t.look(ctx, pulse)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		t.update(func() { t.found, t.looked = found, true })
		select {
		case <-ctx.Done():
			return nil
		case err := <-beaten:
			return err
		case <-t.again:
		case <-tick.C:
		}
	}
}

// Wait returns when nothing asks to wait. Before the first look it waits for
// that: a file that was there from the start must not be missed.
func (t *Throttle) Wait(ctx context.Context) error {
	for {
		t.mu.Lock()
		looked, changed, reason := t.looked, t.changed, t.reason()
		if looked {
			t.tell(reason)
		}
		t.mu.Unlock()
		if ctx.Err() != nil || looked && reason == (Reason{}) {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Reason says why the copy has to wait now.
func (t *Throttle) Reason() Reason {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reason()
}

// Pause makes the copy wait until Resume.
func (t *Throttle) Pause() { t.update(func() { t.paused = true }) }

// Resume ends Pause, and no other reason to wait.
func (t *Throttle) Resume() { t.update(func() { t.paused = false }) }

// Limits returns what holds now.
func (t *Throttle) Limits() Limits {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limits
}

// SetLimits replaces the limits and looks again at once.
func (t *Throttle) SetLimits(limits Limits) error {
	if err := limits.Validate(); err != nil {
		return err
	}
	t.update(func() { t.limits = limits })
	t.lookAgain()
	return nil
}

func (t *Throttle) lookAgain() {
	select {
	case t.again <- struct{}{}:
	default: // asked for already
	}
}

func (t *Throttle) update(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// reason is Reason with mu held.
func (t *Throttle) reason() Reason {
	if t.paused {
		return Reason{"operator", "paused by the operator"}
	}
	return t.found
}

// tell logs once that the copy begins to wait, or waits for something else,
// or goes on; mu is held. Of one reason only the numbers change.
func (t *Throttle) tell(r Reason) {
	if r.Check == t.told {
		return
	}
	t.told = r.Check
	if r.Check == "" {
		t.log.Info("the copy goes on")
		return
	}
	t.log.Info("the copy waits", "reason", r.Text)
}

// look finds the first reason to wait, the cheapest first.
func (t *Throttle) look(ctx context.Context, pulse *pulse) (Reason, error) {
	limits := t.Limits()
	if r := flagFile(limits.FlagFiles); r != (Reason{}) {
		// The critical load is looked at all the same.
		_, err := t.load(ctx, Limits{CriticalLoad: limits.CriticalLoad})
		return r, err
	}
	if r, err := t.load(ctx, limits); err != nil || r != (Reason{}) {
		return r, err
	}
	if r := t.history(ctx, limits.MaxHistory); r != (Reason{}) {
		return r, nil
	}
	return lag(ctx, t.servers.Replicas, pulse, limits.MaxLag), nil
}

func (t *Throttle) load(ctx context.Context, limits Limits) (Reason, error) {
	if len(limits.MaxLoad)+len(limits.CriticalLoad) == 0 {
		return Reason{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	values, err := t.servers.Status(ctx, append(limits.MaxLoad.Variables(), limits.CriticalLoad.Variables()...))
	if err != nil {
		return unread(err), nil
	}
	if text, ok := limits.CriticalLoad.exceeded(values); ok {
		return Reason{}, fmt.Errorf("critical load: %s", text)
	}
	if text, ok := limits.MaxLoad.exceeded(values); ok {
		return Reason{"load", text}, nil
	}
	return Reason{}, nil
}

func (t *Throttle) history(ctx context.Context, limit int64) Reason {
	if limit == 0 {
		return Reason{}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	length, err := t.servers.History(ctx)
	switch {
	case err != nil:
		return unread(err)
	case length > limit:
		return Reason{"history", fmt.Sprintf("the history list is %d long, the limit is %d", length, limit)}
	}
	return Reason{}
}

// unread: while the source can't be asked, nobody knows how it fares.
func unread(err error) Reason {
	return Reason{"source", fmt.Sprintf("the source can't be asked: %v", err)}
}
