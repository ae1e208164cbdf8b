package throttle

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long one question to a server may take.
const patience = 5 * time.Second

// pulse writes a row to the control table at intervals, and tells from the
// newest one that a replica has how far the replica is behind.
//
// SHOW REPLICA STATUS would be cheaper and worse: it counts whole seconds
// from the time a transaction began, knows nothing of what has not been
// received yet, counts from the nearest source in a chain, and says nothing
// while a thread is stopped. The row has to go the whole way, so its age is
// the lag. It is written and read by this process, by one clock.
type pulse struct {
	write   func(ctx context.Context, token string) error
	first   func() // called when the first beat is written
	every   time.Duration
	id      string
	started time.Time
	newest  atomic.Int64 // age of the pulse, in nanoseconds, when the last beat was written
}

func newPulse(write func(context.Context, string) error, first func(), every time.Duration) *pulse {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return &pulse{write: write, first: first, every: every, id: hex.EncodeToString(random[:]), started: time.Now()}
}

// run beats until ctx ends. A beat may take long where commits wait for the
// ACK of a replica; the next one waits for it, so that they never pile up.
func (p *pulse) run(ctx context.Context) error {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		at := time.Since(p.started)
		err := p.write(ctx, p.id+"-"+strconv.FormatInt(int64(at), 10))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("write heartbeat: %w", err)
		}
		if p.newest.Swap(int64(at)) == 0 {
			p.first()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// behind tells how long ago the first beat was written that a replica does
// not have yet, from the newest beat that it has. It reports false if that is
// none of this run.
func (p *pulse) behind(token string) (lag time.Duration, ok bool) {
	offset, ours := strings.CutPrefix(token, p.id+"-")
	at, err := strconv.ParseInt(offset, 10, 64)
	switch {
	case !ours || err != nil:
		return time.Since(p.started), false
	case at >= p.newest.Load():
		return 0, true
	}
	return max(0, time.Since(p.started)-time.Duration(at)-p.every), true
}

// lag asks every replica at once, so that one that hangs costs no more than
// its own time, and returns the worst.
func lag(ctx context.Context, replicas []Replica, pulse *pulse, limit time.Duration) Reason {
	if limit == 0 {
		limit = DefaultMaxLag
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lags := make([]time.Duration, len(replicas))
	seen := make([]bool, len(replicas))
	errs := make([]error, len(replicas))
	var group sync.WaitGroup
	for i, r := range replicas {
		group.Go(func() {
			token, err := r.Beat(ctx)
			lags[i], seen[i] = pulse.behind(token)
			errs[i] = err
		})
	}
	group.Wait()
	worst := -1
	for i, r := range replicas {
		switch {
		case errs[i] != nil:
			return Reason{"lag", fmt.Sprintf("the replica %s can't be asked: %v", r.Name, errs[i])}
		case !seen[i]: // it may be no replica at all
			return Reason{"lag", fmt.Sprintf("the replica %s has not received a heartbeat for %v", r.Name, lags[i].Round(100*time.Millisecond))}
		}
		if worst < 0 || lags[i] > lags[worst] {
			worst = i
		}
	}
	if worst < 0 || lags[worst] <= limit {
		return Reason{}
	}
	return Reason{"lag", fmt.Sprintf("the replica %s is %v behind, the limit is %v",
		replicas[worst].Name, lags[worst].Round(100*time.Millisecond), limit)}
}
