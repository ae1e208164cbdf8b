package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"rowproof/engine/backfill"
	"rowproof/engine/checksum"
	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// copy copies every chunk, the last one with an open end.
func (m *migration) copy(ctx context.Context) error {
	m.progress.begin("copying", m.estimate(ctx))
	after, before, done := m.start()
	m.summary.Rows = before
	m.progress.add(before)
	if done {
		m.reached.allCopied()
		return nil
	}
	chunks := backfill.NewChunker(m.server, m.plan, "copy-next", m.cfg.Copy.ChunkSize)
	chunks.StartAfter(after)
	feed := backfill.NewFeed(chunks, m.sizer())
	m.reached.follow(func() (ddl.Tuple, int64) {
		rows, _ := feed.Total()
		return feed.Watermark(), before + rows
	})
	copier := backfill.Copier{Server: m.server, Plan: m.plan, Keys: m.writer.Write, Log: m.cfg.Log}
	err := m.eachChunk(ctx, feed, copier.Copy)
	m.summary.Rows, m.summary.Chunks = feed.Total()
	m.summary.Rows += before
	if err == nil {
		m.reached.allCopied()
	}
	return err
}

// sizer is where the size of chunks starts, and whether it is fitted.
func (m *migration) sizer() backfill.Sizer {
	if rows := m.operator.chunkSize.Load(); rows > 0 {
		return backfill.Sizer{Rows: int(rows)}
	}
	return backfill.Sizer{Rows: firstChunk, Goal: calmGoal}
}

// firstChunk is the number of rows of the first chunk whose size is fitted.
const firstChunk = 1000

// eachChunk gives all chunks of the feed to work, several at a time.
func (m *migration) eachChunk(ctx context.Context, feed *backfill.Feed, work func(context.Context, backfill.Chunk) (int64, error)) error {
	group, ctx := errgroup.WithContext(ctx)
	working, finish := context.WithCancel(ctx) // ends with the last chunk
	defer finish()
	m.operator.use(feed)
	pace := newPace()
	group.Go(func() error { return pace.watch(working, m.stream.Foreign, feed.Aim) })
	for worker := range m.cfg.Copy.Threads {
		group.Go(func() error {
			pacer := m.throttle.Pacer()
			for {
				if err := pacer.Wait(working); err != nil {
					return ctx.Err()
				}
				// Only the first worker goes on while the application is busy.
				if worker > 0 && !pace.calm(working) {
					return ctx.Err()
				}
				chunk, ok, err := feed.Next(ctx)
				if err != nil {
					return err
				}
				if !ok {
					finish()
					return nil
				}
				began := time.Now()
				rows, err := work(ctx, chunk)
				if err != nil {
					return err
				}
				feed.Done(chunk, rows, time.Since(began))
				m.progress.add(rows)
			}
		})
	}
	return group.Wait()
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
	m.progress.begin("verifying", m.summary.Rows)
	feed := backfill.NewFeed(backfill.NewChunker(m.server, m.plan, "verify", m.cfg.Copy.ChunkSize), m.sizer())
	v := &checksum.Verifier{Server: m.server, Plan: m.plan, Settle: m.settle}
	err := m.eachChunk(ctx, feed, func(ctx context.Context, chunk backfill.Chunk) (rows int64, err error) {
		err = mysql.Persist(ctx, func() error {
			rows, err = v.Compare(ctx, chunk.Range)
			return err
		})
		return rows, err
	})
	if err := errors.Join(err, v.Finish(ctx)); err != nil {
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
