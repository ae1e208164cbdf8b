package apply

import (
	"context"
	"sync"

	"rowproof/engine/ddl"
)

// queue holds the keys that wait to be applied, each once, in the order in
// which they first changed. A key that is being applied is not handed out
// again until that is done: of two writers of one key, the one that read the
// older state could delete the row that the other has just written.
type queue struct {
	limit int // bytes of key text above which add blocks

	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever something below changes
	next    uint64        // number of the last key that was added
	paused  bool          // take blocks
	waiting []entry
	size    int
	known   map[string]bool   // texts in waiting
	taken   map[string]uint64 // text -> number, of the keys being applied
}

type entry struct {
	number uint64
	text   string
	key    ddl.Tuple
}

func newQueue(limit int) *queue {
	return &queue{
		limit: limit, changed: make(chan struct{}),
		known: map[string]bool{}, taken: map[string]uint64{},
	}
}

// notify wakes everyone who waits; mu is held.
func (q *queue) notify() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// add appends a key unless it waits already. It blocks while too many wait.
func (q *queue) add(ctx context.Context, key ddl.Tuple) error {
	e := entry{text: key.String(), key: key}
	return q.until(ctx, func() bool {
		if q.known[e.text] {
			return true
		}
		if q.size > q.limit {
			return false
		}
		q.push(e)
		return true
	})
}

func (q *queue) push(e entry) {
	q.next++
	e.number = q.next
	q.waiting = append(q.waiting, e)
	q.known[e.text] = true
	q.size += len(e.text)
	q.notify()
}

// take removes up to n keys that nobody is applying. It blocks until there
// is one, and while the queue is paused.
func (q *queue) take(ctx context.Context, n int) ([]entry, error) {
	var batch []entry
	err := q.until(ctx, func() bool {
		if !q.paused {
			batch = q.pick(n)
		}
		return len(batch) > 0
	})
	return batch, err
}

// pick is take without waiting; mu is held.
func (q *queue) pick(n int) []entry {
	var batch, busy []entry
	i := 0
	for ; i < len(q.waiting) && len(batch) < n; i++ {
		e := q.waiting[i]
		if _, taken := q.taken[e.text]; taken {
			busy = append(busy, e)
			continue
		}
		batch = append(batch, e)
		q.taken[e.text] = e.number
		delete(q.known, e.text)
		q.size -= len(e.text)
	}
	if len(batch) == 0 {
		return nil
	}
	q.waiting = q.waiting[i:]
	if len(busy) > 0 {
		q.waiting = append(busy, q.waiting...)
	}
	q.notify()
	return batch
}

// done says that the keys are applied. Those in again are not: they wait at
// the end of the queue, under their old numbers.
func (q *queue) done(batch, again []entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		delete(q.taken, e.text)
	}
	for _, e := range again {
		if !q.known[e.text] {
			q.waiting = append(q.waiting, e)
			q.known[e.text] = true
			q.size += len(e.text)
		}
	}
	q.notify()
}

// settle blocks until every key that was added before the call is applied.
func (q *queue) settle(ctx context.Context) error {
	q.mu.Lock()
	last := q.next
	q.mu.Unlock()
	return q.until(ctx, func() bool {
		if len(q.waiting) > 0 && q.waiting[0].number <= last {
			return false // the usual case, found without looking at all keys
		}
		for _, number := range q.taken {
			if number <= last {
				return false
			}
		}
		for _, e := range q.waiting {
			if e.number <= last {
				return false
			}
		}
		return true
	})
}

// pause makes take block, and returns when no key is being applied.
func (q *queue) pause(ctx context.Context) error {
	q.mu.Lock()
	q.paused = true
	q.mu.Unlock()
	return q.until(ctx, func() bool { return len(q.taken) == 0 })
}

// resume ends a pause.
func (q *queue) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = false
	q.notify()
}

// drain removes every key that waits. The queue is paused.
func (q *queue) drain() []entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.size, q.known = nil, 0, map[string]bool{}
	q.notify()
	return batch
}

// length is the number of keys that are not applied yet.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + len(q.taken)
}

// until blocks until condition holds, calling it under the lock whenever
// the queue changed.
func (q *queue) until(ctx context.Context, condition func() bool) error {
	for {
		q.mu.Lock()
		ok, changed := condition(), q.changed
		q.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
