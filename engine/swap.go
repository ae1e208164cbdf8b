package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rowproof/engine/cutover"
	"rowproof/engine/ddl"
)

// One statement under the lock brings up to date so many keys, with about so
// many bytes of text.
const (
	batchKeys = 1000
	batchText = 128 << 10
)

// cutOver tries to swap the tables until it succeeds or the tries run out.
// Between tries writers have the table to themselves for ever longer.
func (m *migration) cutOver(ctx context.Context) error {
	if err := m.postpone(ctx); err != nil {
		return err
	}
	m.progress.begin("cutting over", 0)
	pause := time.Second
	for {
		// A pause of the operator holds the swap too, and so does a replica that
		// lags: its readers would have the new table long after.
		if err := m.throttle.Wait(ctx); err != nil {
			return err
		}
		m.summary.Tries++
		began, err := m.try(ctx)
		if err == nil {
			m.summary.Locked = time.Since(began)
			m.swapped = true
			return nil
		}
		if !errors.Is(err, cutover.ErrBusy) || m.summary.Tries >= m.cfg.CutOver.Tries || ctx.Err() != nil {
			return fmt.Errorf("cut over (try %d): %w", m.summary.Tries, err)
		}
		m.cfg.Log.Warn("cut-over waits", "try", m.summary.Tries, "again in", pause, "reason", err)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-m.operator.hurry:
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, m.cfg.CutOver.MaxPause)
	}
}

// try makes the shadow all but up to date, and then does the rest under the
// lock, with the applier paused: the lock would hold up its sessions too.
func (m *migration) try(ctx context.Context) (began time.Time, err error) {
	if err := m.settle(ctx); err != nil {
		return began, err
	}
	// The watch looks every few seconds only.
	if err := m.lock.Hold(ctx); err != nil {
		return began, err
	}
	defer m.applier.Resume()
	if err := m.applier.Pause(ctx); err != nil {
		return began, err
	}
	began = time.Now()
	swap := cutover.Swap{
		Server: m.server, Original: m.names.original, Shadow: m.names.shadow, Old: m.names.old,
		Wait:       time.Duration(m.operator.wait.Load()),
		Drain:      func(ctx context.Context) error { return m.markers.pass(ctx, "drain") },
		Statements: m.lastChanges,
		Expect:     m.stream.Expect,
		Numbered:   numbered(m.plan.Shadow),
	}
	if n := m.alter.AutoIncrement; n != nil {
		swap.NextNumber = *n
	}
	err = swap.Try(ctx)
	if err != nil {
		m.applier.PutBack()
	}
	return began, err
}

// lastChanges returns what brings the keys that still wait up to date while
// nobody writes either table. All their rows leave the shadow before the
// first comes back, so that none meets another's old unique value.
func (m *migration) lastChanges() []string {
	keys := m.applier.Remaining()
	verb := ddl.Replace
	if m.plan.MayDuplicate() {
		verb = ddl.Insert
	}
	var deletes, inserts []string
	for len(keys) > 0 {
		n := ddl.Portion(keys, batchKeys, batchText)
		deletes = append(deletes, m.plan.DeleteKeys(keys[:n]))
		inserts = append(inserts, m.plan.Apply(verb, keys[:n]))
		keys = keys[n:]
	}
	return append(deletes, inserts...)
}

func numbered(t ddl.Table) bool {
	for _, c := range t.Columns {
		if c.AutoIncrement() {
			return true
		}
	}
	return false
}
