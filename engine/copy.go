package engine

import (
	"context"
	"fmt"

	"rowproof/engine/backfill"
	"rowproof/engine/checksum"
	"rowproof/engine/ddl"
)

// copy copies every chunk, the last one with an open end.
func (m *migration) copy(ctx context.Context) error {
	m.progress.begin("copying", m.estimate(ctx))
	chunks := backfill.NewChunker(m.server, m.plan, "copy-next", m.cfg.Copy.ChunkSize)
	copier := backfill.Copier{Server: m.server, Plan: m.plan, Keys: m.writer.Write, Log: m.cfg.Log}
	for {
		chunk, ok, err := chunks.Next(ctx)
		if err != nil || !ok {
			return err
		}
		rows, err := copier.Copy(ctx, chunk)
		if err != nil {
			return err
		}
		m.summary.Rows += rows
		m.summary.Chunks++
		m.progress.add(rows)
	}
}

// estimate is the server's guess of the number of rows, for progress alone.
func (m *migration) estimate(ctx context.Context) int64 {
	var n int64
	err := m.server.DB.QueryRowContext(ctx,
		"SELECT IFNULL(TABLE_ROWS, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?",
		m.names.original.Schema, m.names.original.Name).Scan(&n)
	if err != nil {
		return 0 // unknown: the progress line says so
	}
	return n
}

// verify compares the tables, unless that is turned off.
func (m *migration) verify(ctx context.Context) error {
	if m.cfg.Verify == VerifyOff {
		return nil
	}
	if err := m.settle(ctx); err != nil {
		return err
	}
	for _, column := range m.plan.Uncompared() {
		m.cfg.Log.Warn("column is not compared: no expression converts as the ALTER does", "column", column)
	}
	m.progress.begin("verifying", m.summary.Rows)
	chunks := backfill.NewChunker(m.server, m.plan, "verify", m.cfg.Copy.ChunkSize)
	next := func(ctx context.Context) (ddl.Range, bool, error) {
		chunk, ok, err := chunks.Next(ctx)
		return chunk.Range, ok, err
	}
	v := checksum.Verifier{
		Server: m.server, Plan: m.plan, Next: next, Settle: m.settle,
		Done: func() { m.progress.add(int64(m.cfg.Copy.ChunkSize)) },
	}
	if err := v.Verify(ctx); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	m.summary.Verified = true
	return nil
}

// settle returns when everything that was committed before the call is in
// the shadow.
func (m *migration) settle(ctx context.Context) error {
	if err := m.markers.pass(ctx, "verify"); err != nil {
		return err
	}
	return m.applier.Settle(ctx)
}
