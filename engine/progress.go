package engine

import (
	"context"
	"sync"
	"time"
)

// progress counts the work of the phase that is under way.
type progress struct {
	mu    sync.Mutex
	phase string
	total int64 // rows, 0 if unknown
	done  int64
	since time.Time
}

func (p *progress) begin(phase string, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.total, p.done, p.since = phase, total, 0, time.Now()
}

func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
}

// report logs a progress line now and then until ctx ends.
func (m *migration) report(ctx context.Context) error {
	tick := time.NewTicker(m.cfg.ProgressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		m.logProgress()
	}
}

func (m *migration) logProgress() {
	p := &m.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.phase == "" {
		return
	}
	elapsed := time.Since(p.since)
	fields := []any{"rows", p.done, "rows/s", int64(float64(p.done) / max(elapsed.Seconds(), 1e-3)),
		"changes applied", m.applier.Applied(), "backlog", m.applier.Backlog()}
	if p.total > 0 && p.done > 0 {
		share := min(1, float64(p.done)/float64(p.total))
		fields = append(fields, "percent", int(100*share),
			"left", (time.Duration(float64(elapsed) * (1 - share) / share)).Round(time.Second))
	}
	m.cfg.Log.Info(p.phase, fields...)
}
