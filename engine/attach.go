package engine

import (
	"context"
	"fmt"
	"sync"

	"rowproof/engine/apply"
	"rowproof/engine/backfill"
	"rowproof/engine/stream"
)

// attach starts the stream and the applier, and proves by a sentinel that
// what is committed from now on comes through.
//
// The position may lie behind a transaction that no reader sees yet. Its
// events will not come; the locking reads of the copy wait for it instead.
func (m *migration) attach(ctx context.Context) error {
	position, err := m.attachAt(ctx)
	if err != nil {
		return err
	}
	m.summary.Attached = position.String()
	m.markers = newMarkers(m.server, m.names.control)
	m.writer = apply.NewWriter(m.server, m.plan)
	m.applier = apply.New(m.writer, apply.Config{Log: m.cfg.Log})
	ready := make(chan struct{})
	var met <-chan struct{}
	if m.resumed != nil {
		met = m.markers.await(m.resumed.Token)
	}
	m.reached.passed(position, m.applier.Mark())
	m.stream = stream.New(stream.Config{
		Server:   m.server,
		ServerID: m.cfg.Stream.ServerID,
		Schema:   m.names.original.Schema,
		Original: m.names.original.Name,
		Shadow:   m.names.shadow.Name,
		Control:  m.names.control.Name,
		Resumed:  m.resumed != nil,
		Columns:  len(m.plan.Original.Columns),
		Key:      m.plan.Key.Ordinals(),
		Log:      m.cfg.Log,
	}, stream.Handler{Changed: m.changed, Marker: m.markers.passed, Ready: sync.OnceFunc(func() { close(ready) }),
		Boundary: func(p stream.Position) { m.reached.passed(p, m.applier.Mark()) }})

	m.background = newBackground(ctx)
	ctx = m.background.ctx
	m.background.run(func(ctx context.Context) error { return m.stream.Run(ctx, position) })
	m.background.run(m.applier.Run)
	m.background.run(m.lock.Watch)
	m.background.run(m.report)
	m.background.run(m.throttle.Run)
	m.background.run(m.serve)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-ready:
	}
	m.cfg.Log.Info("attached to the binlog", "at", position.String())
	if err := m.sentinel(ctx); err != nil {
		return err
	}
	return m.firstCheckpoint(ctx, position, met)
}

// attachAt is the end of the binlog, or the place that a resumed run had
// reached: between the two lie the changes that nobody has applied.
func (m *migration) attachAt(ctx context.Context) (stream.Position, error) {
	if m.resumed != nil {
		return m.position(), nil
	}
	return stream.Current(ctx, m.server, m.cfg.Stream.GTID)
}

// sentinel is a second belt: it shows that the stream is alive and was
// attached before now.
func (m *migration) sentinel(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, m.cfg.Stream.SentinelWait)
	defer cancel()
	if err := m.markers.pass(limited, "sentinel"); err != nil {
		return fmt.Errorf("check the binlog stream: %w", err)
	}
	return nil
}

func (m *migration) changed(ctx context.Context, values []any, gone bool) error {
	key, err := m.plan.Key.KeyTuple(values)
	if err != nil {
		return err
	}
	return m.applier.Changed(ctx, key, gone)
}

// readSpan reads the range of keys to copy.
func (m *migration) readSpan(ctx context.Context) error {
	span, err := backfill.ReadSpan(ctx, m.server, m.plan)
	if err != nil {
		return err
	}
	m.cfg.Log.Info("range of keys", "lowest", span.Lowest.String(), "highest", span.Highest.String())
	return nil
}
