package apply

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"rowproof/engine/ddl"
)

// Config bounds the applier's work. Zero values are usable.
type Config struct {
	Workers int // parallel transactions; 0 means 2
	Batch   int // keys in one transaction; 0 means 1000
	Text    int // bytes of key text in one transaction, about; 0 means 128 KiB
	Memory  int // bytes of memory for waiting keys above which Changed blocks; 0 means 16 MiB
	Log     *slog.Logger
}

// Applier applies changed keys in the background, several at a time.
type Applier struct {
	cfg     Config
	writer  *Writer
	queue   *queue
	applied atomic.Int64

	remaining []*entry // taken by Remaining
}

// New returns an applier; Run starts it.
func New(w *Writer, cfg Config) *Applier {
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	if cfg.Batch == 0 {
		cfg.Batch = 1000
	}
	if cfg.Text == 0 {
		cfg.Text = 128 << 10
	}
	if cfg.Memory == 0 {
		cfg.Memory = 16 << 20
	}
	return &Applier{cfg: cfg, writer: w, queue: newQueue(cfg.Memory)}
}

// Changed says that the row under this key is not what it was. Unless gone is
// set, a row was inserted under the key or updated and kept it: only its
// absence needs no look then. It blocks while too many keys wait.
func (a *Applier) Changed(ctx context.Context, key ddl.Tuple, gone bool) error {
	return a.queue.add(ctx, key, gone)
}

// Mark is a place in the order of the keys that were reported.
type Mark uint64

// Mark returns the place behind the last key that was reported.
func (a *Applier) Mark() Mark { return Mark(a.queue.last()) }

// SettleAt returns when every key reported before the mark is applied, for
// good: each is committed on the server.
func (a *Applier) SettleAt(ctx context.Context, m Mark) error { return a.queue.settle(ctx, uint64(m)) }

// Settle returns when every key reported before the call is applied.
func (a *Applier) Settle(ctx context.Context) error { return a.SettleAt(ctx, a.Mark()) }

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
	group.Go(func() error { return a.retry(ctx) })
	return group.Wait()
}

// Pause stops the workers after what they are at, and waits for that. Keys
// reported meanwhile wait. Resume must follow, also after an error.
func (a *Applier) Pause(ctx context.Context) error { return a.queue.pause(ctx) }

// Resume lets the workers go on.
func (a *Applier) Resume() { a.queue.resume() }

// Remaining takes every key that waits. It is for a caller that has paused
// the workers and applies the keys itself; PutBack must follow if it does not
// get through with that.
func (a *Applier) Remaining() []ddl.Tuple {
	a.remaining = append(a.remaining, a.queue.drain()...)
	return keys(a.remaining)
}

// PutBack makes the keys that Remaining took wait again.
func (a *Applier) PutBack() {
	a.queue.putBack(a.remaining)
	a.remaining = nil
}

// work applies keys as they come.
func (a *Applier) work(ctx context.Context) error {
	for {
		batch, err := a.queue.take(ctx, a.cfg.Batch, a.cfg.Text)
		if err != nil {
			return nil //nolint:nilerr // ctx ended
		}
		wait := Wait
		if a.queue.careful() {
			wait = NoWait
		}
		again, err := a.write(ctx, wait, batch)
		if err != nil {
			return err
		}
		for _, e := range again {
			if wait == Wait {
				e.delay = max(e.delay, longDelay/2) // it has been waited for
			}
		}
		a.queue.done(batch, again)
	}
}

// retry applies the keys that were set aside, when their time has come.
func (a *Applier) retry(ctx context.Context) error {
	said := time.Time{}
	for {
		batch, err := a.queue.takeDue(ctx, a.cfg.Batch, a.cfg.Text)
		if err != nil {
			return nil //nolint:nilerr // ctx ended
		}
		again, err := a.write(ctx, NoWait, batch)
		if err != nil {
			return err
		}
		// A row that is always locked, by one after the other, would never be
		// found free: for one of them we stand in line.
		var chosen []*entry
		if n := len(again); n > 0 {
			i := rand.IntN(n)
			if again[i].delay >= longDelay {
				chosen, again = []*entry{again[i]}, append(again[:i:i], again[i+1:]...)
			}
		}
		a.queue.done(without(batch, chosen), again)
		if len(chosen) > 0 {
			again, err := a.write(ctx, Wait, chosen)
			if err != nil {
				return err
			}
			a.queue.done(chosen, again)
		}
		if n, example := a.queue.locked(); n > 0 && time.Since(said) > sayEvery {
			said = time.Now()
			a.cfg.Log.Warn("rows are locked by others: their changes wait, and so does the cut-over",
				"rows", n, "one of them", a.writer.plan.Key.Describe(example))
		}
	}
}

// sayEvery is how often locked rows are mentioned.
const sayEvery = 10 * time.Second

// write writes a batch and returns those of it that are locked by others.
func (a *Applier) write(ctx context.Context, wait Patience, batch []*entry) (again []*entry, err error) {
	locked, err := a.writer.write(ctx, wait, changes(batch))
	if ctx.Err() != nil {
		return batch, nil //nolint:nilerr // the end of ctx is no error
	}
	if err != nil {
		return nil, fmt.Errorf("apply changes: %w", err)
	}
	again = among(batch, locked)
	a.applied.Add(int64(len(batch) - len(again)))
	return again, nil
}

func keys(batch []*entry) []ddl.Tuple {
	tuples := make([]ddl.Tuple, len(batch))
	for i, e := range batch {
		tuples[i] = e.key
	}
	return tuples
}

func changes(batch []*entry) []change {
	list := make([]change, len(batch))
	for i, e := range batch {
		list[i] = change{e.key, e.gone}
	}
	return list
}

// among returns the entries of the batch whose keys are in locked.
func among(batch []*entry, locked []change) []*entry {
	if len(locked) == 0 {
		return nil
	}
	texts := make(map[string]bool, len(locked))
	for _, c := range locked {
		texts[c.key.String()] = true
	}
	var again []*entry
	for _, e := range batch {
		if texts[e.text] {
			again = append(again, e)
		}
	}
	return again
}

// without returns the batch less the entries in others, which are few.
func without(batch, others []*entry) []*entry {
	if len(others) == 0 {
		return batch
	}
	var rest []*entry
	for _, e := range batch {
		if e != others[0] {
			rest = append(rest, e)
		}
	}
	return rest
}
