package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"rowproof/engine/apply"
	"rowproof/engine/checkpoint"
	"rowproof/engine/checksum"
	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
	"rowproof/engine/stream"
)

// reached is how far a run has come, as far as a checkpoint may tell: it
// pairs a place in the binlog with what was reported to the applier before
// it.
type reached struct {
	mu        sync.Mutex
	position  stream.Position
	mark      apply.Mark
	watermark func() (after ddl.Tuple, rows int64) // of the copy; nil before it starts
	copied    bool
}

// passed is told each boundary by the goroutine that also reports the keys,
// so the mark lies behind every key that changed before the boundary.
func (r *reached) passed(p stream.Position, mark apply.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.position, r.mark = p, mark
}

func (r *reached) boundary() (stream.Position, apply.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.position, r.mark
}

// follow names the function that knows how far the copy is: all rows up to
// and with a key are in the shadow, and it has copied so many.
func (r *reached) follow(watermark func() (ddl.Tuple, int64)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watermark = watermark
}

// allCopied says that the copy is done.
func (r *reached) allCopied() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.copied = true
}

// advance brings a progress's part about the copy up to date.
func (r *reached) advance(p *checkpoint.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Copied = r.copied
	if r.watermark == nil {
		return
	}
	after, rows := r.watermark()
	p.Rows = rows
	if after != nil { // nil too between the last chunk's end and allCopied
		p.After = after
	}
}

// start is where the copy starts: behind this key, with this many rows
// copied before; done says that there is nothing left to copy.
func (m *migration) start() (after ddl.Tuple, rows int64, done bool) {
	if m.resumed == nil {
		return nil, 0, false
	}
	p := m.resumed.Progress
	return p.After, p.Rows, p.Copied
}

func (m *migration) store() checkpoint.Store {
	return checkpoint.Store{Server: m.server, Table: m.names.control}
}

// identity is what must not change between the runs of one migration.
func (m *migration) identity(p ddl.Plan) checkpoint.Migration {
	return checkpoint.Migration{
		Server:   m.server.UUID,
		Table:    m.names.original.String(),
		Alter:    m.alter.Canonical(),
		Key:      p.Key.Name,
		Original: checkpoint.Fingerprint(p.Original.CreateSQL),
		Shadow:   checkpoint.Fingerprint(ddl.WithoutIndexes(p.Shadow)),
	}
}

// loadCheckpoint reads what an earlier run has reached, and refuses what
// can't be gone on from. It plans the migration with the shadow that is
// there.
func (m *migration) loadCheckpoint(ctx context.Context) error {
	nothing := func(why string) error {
		return &ddl.Refusal{What: "--resume", Why: why, Do: "leave out --resume to start over"}
	}
	left, err := m.leftovers(ctx)
	if err != nil {
		return err
	}
	if len(left) < 2 {
		return nothing("there is nothing to resume: no shadow table of an earlier run of osc is there")
	}
	d, err := m.store().Load(ctx)
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		return nothing("there is nothing to resume: the earlier run ended before its first checkpoint")
	case err != nil:
		return err
	}
	// What was changed meanwhile is told as that, and not by what can't be
	// planned because of it.
	now := ddl.Plan{Key: ddl.KeyPlan{Name: d.Migration.Key}}
	if now.Original, err = m.server.ReadTable(ctx, m.names.original); err != nil {
		return err
	}
	if now.Shadow, err = m.server.ReadTable(ctx, m.names.shadow); err != nil {
		return err
	}
	if err := d.Validate(m.identity(now)); err != nil {
		return err
	}
	if err := m.planShadow(ctx); err != nil {
		return err
	}
	if err := d.Validate(m.identity(m.plan)); err != nil {
		return err
	}
	p := &d.Progress
	if p.After != nil && len(p.After) != len(m.plan.Key.Pairs) {
		return fmt.Errorf("read checkpoint: its key has %d columns, the table's has %d", len(p.After), len(m.plan.Key.Pairs))
	}
	for _, index := range d.Deferred.Indexes {
		if err := index.Check(m.server.Version.Text); err != nil {
			return fmt.Errorf("read checkpoint: %w", err)
		}
	}
	switch {
	case !m.cfg.Stream.GTID:
		p.GTIDs = ""
	case p.GTIDs == "":
		return nothing("the earlier run followed the binary log by file and position: leave out --gtid")
	}
	if err := d.CheckBinlog(ctx, m.server); err != nil {
		return err
	}
	m.resumed = &d
	return nil
}

// takeOver makes the shadow of a run that died ours. What that run had sent
// to the server may still be going on there; having the table alone waits
// for its end.
func (m *migration) takeOver(ctx context.Context) error {
	p := m.resumed.Progress
	m.cfg.Log.Info("resuming", "saved", m.resumed.Saved.Format(time.RFC3339), "binlog", m.position().String(),
		"copied up to", p.After.String(), "rows", p.Rows, "all copied", p.Copied)
	conn, err := m.server.DDL.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take over shadow table: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, mysql.Step("shadow", "LOCK TABLES "+m.names.shadow.Quoted()+" WRITE")); err != nil {
		return fmt.Errorf("take over shadow table: %w", err)
	}
	if _, err := conn.ExecContext(ctx, mysql.Step("shadow", "UNLOCK TABLES")); err != nil {
		return fmt.Errorf("take over shadow table: %w", err)
	}
	// Indexes may have been under way.
	if err := m.planShadow(ctx); err != nil {
		return err
	}
	m.wanted = m.resumed.Deferred.Wanted
	m.deferred = ddl.Missing(m.plan.Shadow, m.resumed.Deferred.Indexes)
	return m.followServer()
}

// awaitSwap waits until no session of an earlier run is about to swap the
// tables: a run can die after it has sent the RENAME, and before the server
// has done it.
func (m *migration) awaitSwap(ctx context.Context) error {
	lock, err := m.server.Acquire(ctx, mysql.LockName("swap", m.names.original.Schema, m.names.original.Name), time.Minute)
	if errors.Is(err, mysql.ErrLocked) {
		return &ddl.Refusal{What: "table " + m.names.original.String(), Why: "a session of an earlier run still swaps tables (" + err.Error() + ")",
			Do: "wait for it to end"}
	}
	if err != nil {
		return err
	}
	return lock.Release(ctx)
}

// position is where a resumed run attaches.
func (m *migration) position() stream.Position {
	p := m.resumed.Progress
	return stream.Position{File: p.File, Pos: p.Pos, GTIDs: p.GTIDs}
}

// firstCheckpoint makes the run one that can be resumed. The stream has
// shown that it is alive; nothing is copied yet. A run that is resumed has
// shown, too, that the binlog is the one of its checkpoint.
func (m *migration) firstCheckpoint(ctx context.Context, attached stream.Position, met <-chan struct{}) error {
	if m.resumed == nil {
		if err := m.save(ctx, attached); err != nil {
			return err
		}
	} else {
		select {
		case <-met:
		default:
			return checkpoint.RefuseHistory(fmt.Sprintf("the binlog from %s on does not hold the checkpoint itself: "+
				"it is another history, such as that of a restored server", attached))
		}
	}
	m.resumable = true
	m.background.run(m.checkpoints)
	return nil
}

// checkpoints saves one now and then until ctx ends.
func (m *migration) checkpoints(ctx context.Context) error {
	tick := time.NewTicker(m.cfg.Checkpoint.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		position, mark := m.reached.boundary()
		err := m.applier.SettleAt(ctx, mark)
		if err == nil {
			err = m.save(ctx, position)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && mysql.Retryable(err):
			m.cfg.Log.Warn("checkpoint waits", "reason", err)
		case err != nil:
			return err
		}
	}
}

// save saves a checkpoint. Everything before the position must be applied.
func (m *migration) save(ctx context.Context, p stream.Position) error {
	d := checkpoint.Document{
		Format: checkpoint.Format, Engine: build(), Saved: time.Now().UTC(), Token: m.markers.token(),
		Migration: m.identity(m.plan),
		Deferred:  checkpoint.Deferred{Indexes: m.deferred, Wanted: m.wanted},
		Progress:  checkpoint.Progress{File: p.File, Pos: p.Pos, GTIDs: p.GTIDs},
	}
	d.Progress.After, d.Progress.Rows, _ = m.start()
	m.reached.advance(&d.Progress)
	return m.store().Save(ctx, d)
}

// keep tells whether a run that failed leaves the shadow and its progress
// behind on purpose. A shadow that was found to be wrong is worth nothing.
func (m *migration) keep(failure error) bool {
	c := m.cfg.Checkpoint
	return failure != nil && m.resumable && !m.swapped && (c.Keep || c.Resume) && !errors.Is(failure, checksum.ErrDifferent)
}

// build names the program's build, for people.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += " " + s.Value
		}
	}
	return version
}
