package apply

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"rowproof/engine/ddl"
)

// queue holds the keys that wait to be applied, each once, in the order in
// which they first changed, or where many wait in runs: see arrange. A key
// that is being applied is not handed out again until that is done: of two
// writers of one key, the one that read the older state could delete the row
// that the other has just written.
//
// A key whose row somebody else has locked is set aside, and comes up again
// after a while, and after a longer while each time. So it is in nobody's way.
type queue struct {
	limit int // bytes of memory above which add blocks

	mu      sync.Mutex
	more    signal // keys have come, or come up again, or a pause has ended
	fewer   signal // keys were taken or are applied
	next    uint64 // number of the last key that was added
	paused  bool   // take blocks
	waiting []*entry
	run     int // how many of waiting, from the first, are left of a run
	aside   []*entry
	size    int
	known   map[string]*entry // those in waiting and aside, by text
	taken   map[string]uint64 // text -> number, of the keys being applied
	wary    time.Time         // see careful
}

type entry struct {
	number uint64
	text   string
	key    ddl.Tuple
	gone   bool          // the row under this key may be gone
	delay  time.Duration // 0 until it is set aside
	due    time.Time     // while it is set aside
}

// memory is about what an entry takes, with its place in the maps.
func (e *entry) memory() int { return 250 + 2*len(e.text) }

// A key is set aside for minDelay at first, if it was found locked without
// waiting for the lock, and for longDelay if that was waited for.
const (
	minDelay  = 10 * time.Millisecond
	longDelay = time.Second
	maxDelay  = 5 * time.Second
)

func newQueue(limit int) *queue {
	return &queue{limit: limit, known: map[string]*entry{}, taken: map[string]uint64{}}
}

// signal wakes those who wait for something. Its queue's mu is held in all
// methods.
type signal struct {
	raised chan struct{} // nil if nobody waits
}

func (s *signal) wait() <-chan struct{} {
	if s.raised == nil {
		s.raised = make(chan struct{})
	}
	return s.raised
}

func (s *signal) raise() {
	if s.raised != nil {
		close(s.raised)
		s.raised = nil
	}
}

// add appends a key unless it waits already. It blocks while too many wait.
func (q *queue) add(ctx context.Context, key ddl.Tuple, gone bool) error {
	text := key.String()
	return q.until(ctx, &q.fewer, func() bool {
		if e := q.known[text]; e != nil {
			e.gone = e.gone || gone
			if e.delay > 0 && len(q.aside) > 0 {
				// Whoever held its lock is done with it: that is why it comes.
				e.due = time.Time{}
				q.more.raise()
			}
			return true
		}
		if q.size > q.limit {
			return false
		}
		q.next++
		e := &entry{number: q.next, text: text, key: key, gone: gone}
		q.waiting = append(q.waiting, e)
		q.keep(e)
		q.more.raise()
		return true
	})
}

func (q *queue) keep(e *entry) {
	q.known[e.text] = e
	q.size += e.memory()
}

// take removes keys that nobody is applying, up to n and about so many bytes
// of text. It blocks until there is one, and while the queue is paused.
func (q *queue) take(ctx context.Context, n, bytes int) ([]*entry, error) {
	var batch []*entry
	err := q.until(ctx, &q.more, func() bool {
		if !q.paused {
			batch = q.pick(n, bytes)
		}
		return len(batch) > 0
	})
	return batch, err
}

// Where manyKeys wait, they are applied in runs of up to runLength.
const (
	manyKeys  = 4000
	runLength = 64_000
)

// arrange puts the keys that wait longest in order of their rows if many
// wait and the run before is used up. Neighbours then come in one
// transaction, which is faster where they share pages. No key is overtaken by
// those behind its run. mu is held.
func (q *queue) arrange() {
	if q.run > 0 || len(q.waiting) < manyKeys {
		return
	}
	q.run = min(len(q.waiting), runLength)
	slices.SortFunc(q.waiting[:q.run], byText)
}

// byText orders numbers of one sign by their size, and texts of one length.
// Any order would be right.
func byText(a, b *entry) int {
	return cmp.Or(cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
}

// pick is take without waiting; mu is held.
func (q *queue) pick(n, bytes int) []*entry {
	q.arrange()
	var batch, busy []*entry
	i := 0
	for ; i < len(q.waiting) && len(batch) < n && bytes > 0; i++ {
		e := q.waiting[i]
		if _, taken := q.taken[e.text]; taken {
			busy = append(busy, e)
			continue
		}
		batch = append(batch, e)
		bytes -= len(e.text)
		q.out(e)
	}
	if len(batch) == 0 {
		return nil
	}
	q.waiting = q.waiting[i:]
	if len(busy) > 0 {
		q.waiting = append(busy, q.waiting...)
	}
	q.run = max(0, q.run-len(batch))
	q.fewer.raise()
	return batch
}

// out makes an entry that waits one that is being applied.
func (q *queue) out(e *entry) {
	q.taken[e.text] = e.number
	delete(q.known, e.text)
	q.size -= e.memory()
}

// takeDue is take for keys that were set aside and have come up again.
func (q *queue) takeDue(ctx context.Context, n, bytes int) ([]*entry, error) {
	for {
		q.mu.Lock()
		batch, next := q.pickDue(n, bytes)
		changed := q.more.wait()
		q.mu.Unlock()
		if len(batch) > 0 {
			return batch, nil
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// pickDue is takeDue without waiting, with the time until a key comes up; mu
// is held.
func (q *queue) pickDue(n, bytes int) (batch []*entry, next time.Duration) {
	next = time.Hour
	if q.paused {
		return nil, next
	}
	now := time.Now()
	rest := q.aside[:0]
	for _, e := range q.aside {
		_, busy := q.taken[e.text] // only as one of the batch before: done follows
		if wait := e.due.Sub(now); busy || wait > 0 || len(batch) >= n || bytes <= 0 {
			rest = append(rest, e)
			next = min(next, max(wait, time.Millisecond))
			continue
		}
		batch = append(batch, e)
		bytes -= len(e.text)
		q.out(e)
	}
	clear(q.aside[len(rest):])
	q.aside = rest
	return batch, next
}

// done says that the keys are applied. Those in again are not: they are set
// aside, under their old numbers. So does a key of them that has changed anew
// meanwhile keep the old number: who waits for its first change must wait on.
func (q *queue) done(batch, again []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		delete(q.taken, e.text)
	}
	now := time.Now()
	for _, e := range again {
		e.delay = min(max(2*e.delay, minDelay), maxDelay)
		e.due = now.Add(e.delay)
		if e.delay >= longDelay {
			q.wary = e.due.Add(longDelay)
		}
		if newer := q.known[e.text]; newer != nil {
			newer.number, newer.delay, newer.gone = min(newer.number, e.number), e.delay, newer.gone || e.gone
			continue
		}
		q.aside = append(q.aside, e)
		q.keep(e)
	}
	q.more.raise()
	q.fewer.raise()
}

// putBack makes keys wait again that were taken and not tried.
func (q *queue) putBack(batch []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var back []*entry
	for _, e := range batch {
		delete(q.taken, e.text)
		if newer := q.known[e.text]; newer != nil {
			newer.number, newer.gone = min(newer.number, e.number), newer.gone || e.gone
			continue
		}
		back = append(back, e)
		q.keep(e)
	}
	q.waiting = append(back, q.waiting...)
	q.more.raise()
	q.fewer.raise()
}

// careful reports whether rows are known to be locked for long. Then it is
// better not to wait for any lock: behind it all keys of a batch would wait.
func (q *queue) careful() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return time.Now().Before(q.wary)
}

// locked returns the number of keys that have been set aside for long, and
// one of them.
func (q *queue) locked() (n int, example ddl.Tuple) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.aside {
		if e.delay >= longDelay {
			n++
			example = e.key
		}
	}
	return n, example
}

// last is the number of the key that was added last.
func (q *queue) last() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.next
}

// settle blocks until every key up to this number is applied.
func (q *queue) settle(ctx context.Context, last uint64) error {
	return q.until(ctx, &q.fewer, func() bool {
		if len(q.waiting) > 0 && q.waiting[0].number <= last {
			return false // the usual case, found without looking at all keys
		}
		for _, number := range q.taken {
			if number <= last {
				return false
			}
		}
		for _, list := range [][]*entry{q.aside, q.waiting} {
			for _, e := range list {
				if e.number <= last {
					return false
				}
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
	return q.until(ctx, &q.fewer, func() bool { return len(q.taken) == 0 })
}

// resume ends a pause.
func (q *queue) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = false
	q.more.raise()
}

// drain takes every key that waits or is set aside. The queue is paused.
func (q *queue) drain() []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := append(q.waiting, q.aside...)
	for _, e := range batch {
		q.out(e)
	}
	q.waiting, q.aside, q.run = nil, nil, 0
	q.fewer.raise()
	return batch
}

// length is the number of keys that are not applied yet.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + len(q.aside) + len(q.taken)
}

// until blocks until condition holds, calling it under the lock whenever
// the signal is raised.
func (q *queue) until(ctx context.Context, s *signal, condition func() bool) error {
	for {
		q.mu.Lock()
		if condition() {
			q.mu.Unlock()
			return nil
		}
		changed := s.wait()
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
