package apply

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"rowproof/engine/ddl"
)

// Config bounds the applier's work. Zero values are usable.
type Config struct {
	Workers int // parallel transactions; 0 means 2
	Batch   int // keys in one transaction; 0 means 1000
	Memory  int // bytes of waiting key text above which Changed blocks; 0 means 8 MiB
	Log     *slog.Logger
}

// Applier applies changed keys in the background, several at a time.
type Applier struct {
	cfg     Config
	writer  *Writer
	queue   *queue
	applied atomic.Int64
}

// New returns an applier; Run starts it.
func New(w *Writer, cfg Config) *Applier {
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	if cfg.Batch == 0 {
		cfg.Batch = 1000
	}
	if cfg.Memory == 0 {
		cfg.Memory = 8 << 20
	}
	return &Applier{cfg: cfg, writer: w, queue: newQueue(cfg.Memory)}
}

// Changed says that the row under this key is not what it was. It blocks
// while too many keys wait.
func (a *Applier) Changed(ctx context.Context, key ddl.Tuple) error { return a.queue.add(ctx, key) }

// Settle returns when every key reported before the call is applied.
func (a *Applier) Settle(ctx context.Context) error { return a.queue.settle(ctx) }

// Backlog is the number of keys not applied yet.
func (a *Applier) Backlog() int { return a.queue.length() }

// Applied is the number of keys applied so far.
func (a *Applier) Applied() int64 { return a.applied.Load() }

// Run applies keys until ctx ends, which is not an error, or until one of
// them can't be applied.
func (a *Applier) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for range a.cfg.Workers {
		group.Go(func() error { return a.work(ctx) })
	}
	return group.Wait()
}

// Pause stops the workers after what they are at, and waits for that. Keys
// reported meanwhile wait. Resume must follow, also after an error.
func (a *Applier) Pause(ctx context.Context) error { return a.queue.pause(ctx) }

// Resume lets the workers go on.
func (a *Applier) Resume() { a.queue.resume() }

// Remaining takes every key that waits. It is for a caller that has paused
// the workers and applies the keys itself.
func (a *Applier) Remaining() []ddl.Tuple { return keys(a.queue.drain()) }

func (a *Applier) work(ctx context.Context) error {
	for {
		batch, err := a.queue.take(ctx, a.cfg.Batch)
		if err != nil {
			return nil //nolint:nilerr // ctx ended
		}
		locked, err := a.writer.Write(ctx, keys(batch))
		if ctx.Err() != nil {
			a.queue.done(batch, batch)
			return nil
		}
		if err != nil {
			return fmt.Errorf("apply changes: %w", err)
		}
		again := among(batch, locked)
		if len(again) > 0 {
			a.cfg.Log.Debug("keys are locked by others and wait", "keys", len(again))
		}
		a.applied.Add(int64(len(batch) - len(again)))
		a.queue.done(batch, again)
	}
}

func keys(batch []entry) []ddl.Tuple {
	tuples := make([]ddl.Tuple, len(batch))
	for i, e := range batch {
		tuples[i] = e.key
	}
	return tuples
}

// among returns the entries of the batch whose keys are in locked.
func among(batch []entry, locked []ddl.Tuple) []entry {
	texts := make(map[string]bool, len(locked))
	for _, key := range locked {
		texts[key.String()] = true
	}
	var again []entry
	for _, e := range batch {
		if texts[e.text] {
			again = append(again, e)
		}
	}
	return again
}
