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

	// The rate of late, so that a pause does not count for ever.
	rate    float64 // rows a second; negative: not known yet
	sampled time.Time
	was     int64 // done, then
}

func (p *progress) begin(phase string, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.phase, p.total, p.done, p.since = phase, total, 0, now
	p.rate, p.sampled, p.was = -1, now, 0
}

func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
}

// sample takes the rate since the last sample into account.
func (p *progress) sample() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	recent := float64(p.done-p.was) / max(now.Sub(p.sampled).Seconds(), 1e-3)
	if p.rate < 0 {
		p.rate = recent
	}
	p.rate = (p.rate + recent) / 2
	p.sampled, p.was = now, p.done
}

// describe fills in what the status says of the phase.
func (p *progress) describe(s *Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Phase, s.Rows, s.Total = p.phase, p.done, p.total
	rate := p.rate
	if rate < 0 {
		rate = float64(p.done) / max(time.Since(p.since).Seconds(), 1e-3)
	}
	s.Rate = int64(rate)
	if left := p.total - p.done; p.total > 0 && left > 0 && rate >= 1 {
		s.Left = time.Duration(float64(left) / rate * float64(time.Second)).Round(time.Second)
	}
}

// report tells the progress now and then, and whenever somebody asks, until
// ctx ends.
func (m *migration) report(ctx context.Context) error {
	tick := time.NewTicker(m.cfg.Operator.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.cfg.Operator.Asked:
			m.cfg.Operator.Answer(m.status())
			continue
		case <-tick.C:
		}
		m.progress.sample()
		s := m.status()
		if m.cfg.Operator.Progress != nil {
			m.cfg.Operator.Progress(s)
		} else {
			m.cfg.Log.Info(s.Phase, s.Attrs()...)
		}
	}
}
