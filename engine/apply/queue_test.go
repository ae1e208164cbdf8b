package apply

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rowproof/engine/ddl"
)

func TestMain(m *testing.M) {
	// The SQL parser's logging library starts it at init, for good.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

func key(n int) ddl.Tuple { return ddl.Tuple{fmt.Sprint(n)} }

func add(t *testing.T, q *queue, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := q.add(t.Context(), key(n), false); err != nil {
			t.Fatal(err)
		}
	}
}

func take(t *testing.T, q *queue, n int) []*entry {
	t.Helper()
	batch, err := q.take(t.Context(), n, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func due(t *testing.T, q *queue) []*entry {
	t.Helper()
	batch, err := q.takeDue(t.Context(), 10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func texts(batch []*entry) string {
	text := ""
	for _, e := range batch {
		text += e.text + " "
	}
	return text
}

// blocked reports that f is still waiting when its context ends.
func blocked(t *testing.T, f func(context.Context) error) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	return errors.Is(f(ctx), context.DeadlineExceeded)
}

func TestQueue(t *testing.T) {
	t.Run("OK/each key once, in order", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 3, 1, 3, 2, 1)
		if got, want := texts(take(t, q, 10)), "3 1 2 "; got != want {
			t.Errorf("batch: got %q, want %q", got, want)
		}
	})
	t.Run("OK/a key that is being applied waits for its turn", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1, 2)
		first := take(t, q, 1)
		add(t, q, 1) // it changed again meanwhile
		if got, want := texts(take(t, q, 10)), "2 "; got != want {
			t.Errorf("batch beside key 1: got %q, want %q", got, want)
		}
		if !blocked(t, func(ctx context.Context) error { _, err := q.take(ctx, 1, 1<<20); return err }) {
			t.Error("key 1 was handed out twice at once")
		}
		q.done(first, nil)
		if got, want := texts(take(t, q, 10)), "1 "; got != want {
			t.Errorf("batch after key 1 was done: got %q, want %q", got, want)
		}
	})
	t.Run("OK/settle waits for what came before it", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1)
		first := take(t, q, 1)
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, q.last()) }) {
			t.Error("settled with key 1 under way")
		}
		settled := make(chan error, 1)
		go func() { settled <- q.settle(t.Context(), q.last()) }()
		q.done(first, nil)
		if err := <-settled; err != nil {
			t.Error(err)
		}
	})
	t.Run("OK/settle does not wait for what comes after it", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1)
		q.done(take(t, q, 1), nil)
		settled := make(chan error, 1)
		go func() { settled <- q.settle(t.Context(), q.last()) }()
		if err := <-settled; err != nil {
			t.Error(err)
		}
	})
	t.Run("OK/a locked key keeps settle waiting", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1, 2)
		batch := take(t, q, 2)
		q.done(batch, batch[:1]) // key 1 is locked by somebody: again
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, q.last()) }) {
			t.Error("settled while key 1 waits to be tried again")
		}
		if !blocked(t, func(ctx context.Context) error { _, err := q.take(ctx, 1, 1<<20); return err }) {
			t.Error("key 1 was handed out among those that nobody has locked")
		}
		q.done(due(t, q), nil)
		if err := q.settle(t.Context(), q.last()); err != nil {
			t.Error(err)
		}
	})
	t.Run("OK/a locked key that changed anew keeps settle waiting", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1)
		first := q.last()
		batch := take(t, q, 1)
		add(t, q, 1)         // it changed again,
		q.done(batch, batch) // and the first change could not be applied
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, first) }) {
			t.Error("settled while key 1 waits to be tried again")
		}
		q.done(take(t, q, 1), nil)
		if err := q.settle(t.Context(), first); err != nil {
			t.Error(err)
		}
	})
	t.Run("OK/a locked key waits longer each time, and rows locked for long make careful", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1)
		batch := take(t, q, 1)
		for range 3 {
			q.done(batch, batch)
			batch = due(t, q)
		}
		if got, want := batch[0].delay, 4*minDelay; got != want {
			t.Errorf("delay: got %v, want %v", got, want)
		}
		if q.careful() {
			t.Error("careful for rows that are locked for an instant")
		}
		batch[0].delay = longDelay
		q.done(batch, batch)
		if n, _ := q.locked(); n != 1 || !q.careful() {
			t.Errorf("got %d locked keys and careful %v, want 1 and true", n, q.careful())
		}
		add(t, q, 1) // it changed, so the lock must be on its way to go
		if got, want := texts(due(t, q)), "1 "; got != want {
			t.Errorf("batch: got %q, want %q at once", got, want)
		}
	})
	t.Run("OK/add blocks while too much waits", func(t *testing.T) {
		q := newQueue(3 * (&entry{text: "1"}).memory()) // four keys go in, then it is over
		add(t, q, 1, 2, 3, 4)
		if !blocked(t, func(ctx context.Context) error { return q.add(ctx, key(5), false) }) {
			t.Error("a fifth key went in")
		}
		add(t, q, 1) // it waits already, and needs no room
		take(t, q, 2)
		add(t, q, 5)
	})
	t.Run("OK/many keys come in order of their rows", func(t *testing.T) {
		q := newQueue(1 << 30)
		for n := range manyKeys { // 0 4 8 … 1 5 9 …
			add(t, q, n*4%manyKeys+n*4/manyKeys)
		}
		for first := 0; first < manyKeys; first += 500 {
			batch := take(t, q, 500)
			for i, e := range batch {
				if got, want := e.text, fmt.Sprint(first+i); got != want {
					t.Fatalf("key %d: got %s, want %s", first+i, got, want)
				}
			}
			q.done(batch, nil)
		}
	})
	t.Run("OK/no key is overtaken by those behind its run", func(t *testing.T) {
		q := newQueue(1 << 30)
		for n := range manyKeys {
			add(t, q, 2*n+10)
		}
		last := q.last()
		busy := take(t, q, 1) // 10: what comes now is behind the run
		for n := range manyKeys {
			add(t, q, 2*n+9) // 9 11 13 …
		}
		add(t, q, 10) // it changed again
		if got, want := texts(take(t, q, 3)), "12 14 16 "; got != want {
			t.Errorf("batch: got %q, want %q", got, want)
		}
		rest := take(t, q, manyKeys-4)
		if got, want := rest[len(rest)-1].text, fmt.Sprint(2*manyKeys+8); got != want {
			t.Errorf("last key of the run: got %s, want %s", got, want)
		}
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, last) }) {
			t.Error("settled with the run under way")
		}
		q.done(busy, nil)
		q.done(rest, nil)
		if got, want := texts(take(t, q, 3)), "9 10 11 "; got != want {
			t.Errorf("batch after the run: got %q, want %q", got, want)
		}
	})
	t.Run("OK/settle waits for every key of a run", func(t *testing.T) {
		q := newQueue(1 << 30)
		add(t, q, 1<<20) // first to change, last in the run
		first := q.last()
		for n := range manyKeys {
			add(t, q, n)
		}
		q.done(take(t, q, manyKeys), nil)
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, first) }) {
			t.Error("settled before the last key of the run")
		}
		q.done(take(t, q, 1), nil)
		if err := q.settle(t.Context(), first); err != nil {
			t.Error(err)
		}
	})
	t.Run("OK/pause", func(t *testing.T) {
		q := newQueue(1 << 20)
		add(t, q, 1, 2)
		batch := take(t, q, 1)
		if !blocked(t, q.pause) {
			t.Error("paused while key 1 was being applied")
		}
		q.done(batch, nil)
		if err := q.pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !blocked(t, func(ctx context.Context) error { _, err := q.take(ctx, 1, 1<<20); return err }) {
			t.Error("a key was handed out during the pause")
		}
		rest := q.drain()
		if got, want := texts(rest), "2 "; got != want {
			t.Errorf("drain: got %q, want %q", got, want)
		}
		if !blocked(t, func(ctx context.Context) error { return q.settle(ctx, q.last()) }) {
			t.Error("settled with key 2 drained and not applied")
		}
		q.putBack(rest) // whoever drained it did not get through
		q.resume()
		if got, want := texts(take(t, q, 1)), "2 "; got != want {
			t.Errorf("batch after the pause: got %q, want %q", got, want)
		}
	})
}
