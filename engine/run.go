package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rowproof/engine/apply"
	"rowproof/engine/checkpoint"
	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
	"rowproof/engine/stream"
	"rowproof/engine/throttle"
)

// Run migrates a table, or with Config.Execute off checks whether it could.
// OutcomeOf tells what an error of it means; whatever the error, the
// original has kept every row.
func Run(ctx context.Context, cfg Config) (Summary, error) {
	if err := cfg.Validate(); err != nil {
		return Summary{}, err
	}
	m := &migration{cfg: cfg.withDefaults(), names: newNames(cfg.Server.Schema, cfg.Table), started: time.Now()}
	m.summary.Table = m.names.original.String()
	defer m.close()

	err := m.phases(ctx, []phase{
		{"connect", m.connect},
		{"preflight", m.preflight},
	})
	if err != nil || !cfg.Execute {
		return m.summary, err
	}
	m.summary.Executed = true
	err = m.phases(ctx, []phase{
		{"claim the table", m.claim},
		{"open the control socket", m.openControl},
		{"try an instant ALTER", m.tryInstant},
		{"make the shadow table", m.makeShadow},
		{"attach to the binlog", m.attach},
		{"read the range of keys", m.readSpan},
		{"copy", m.copy},
		{"build secondary indexes", m.buildIndexes},
		{"verify", m.verify},
		{"cut over", m.cutOver},
	})
	err = errors.Join(err, m.cleanUp(ctx, err))
	m.summary.Elapsed = time.Since(m.started)
	return m.summary, err
}

type phase struct {
	name string
	run  func(context.Context) error
}

// migration is the state of one run. Each part is set by the phase that is
// named behind it.
type migration struct {
	cfg     Config
	names   names
	started time.Time
	summary Summary

	server *mysql.Server   // connect
	alter  ddl.Alter       // preflight
	lock   *mysql.Lock     // claim
	made   []ddl.TableName // claim, makeShadow
	plan   ddl.Plan        // makeShadow

	replicas []*mysql.Server    // preflight
	throttle *throttle.Throttle // preflight
	operator operator           // openControl

	background *background // attach: what runs beside the phases from here on
	stream     *stream.Stream
	writer     *apply.Writer
	applier    *apply.Applier
	markers    *markers

	deferred []ddl.Index // makeShadow: secondary indexes to build after the copy
	wanted   string      // makeShadow: the shadow's definition with them

	resumed   *checkpoint.Document // claim, with Config.Checkpoint.Resume: what to go on from
	reached   reached              // attach, copy
	resumable bool                 // claim, attach: a checkpoint is there

	progress progress
	swapped  bool // cutOver
}

// phases runs the phases in order. What fails in the background ends the
// phase that is under way, and is its error.
func (m *migration) phases(ctx context.Context, list []phase) error {
	for _, p := range list {
		if m.background != nil {
			ctx = m.background.ctx
		}
		m.cfg.Log.Debug("phase", "name", p.name)
		m.progress.begin(p.name, 0)
		err := p.run(ctx)
		if m.background != nil {
			ctx = m.background.ctx // attach has only now started it
		}
		// Once the tables are swapped, the stream and the applier no longer
		// find what they know.
		if cause := context.Cause(ctx); cause != nil && !m.swapped {
			err = cause
		}
		if err == nil {
			continue
		}
		if errors.Is(err, errDone) {
			return nil
		}
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s: interrupted", p.name)
		}
		return err
	}
	return nil
}

func (m *migration) connect(ctx context.Context) (err error) {
	m.server, err = mysql.Open(ctx, m.cfg.Server)
	if err != nil {
		return &ddl.Refusal{What: "to start", Why: err.Error(), Do: "check --host, --port, --user, --database and the password"}
	}
	return nil
}

func (m *migration) close() {
	m.closeControl()
	for _, replica := range m.replicas {
		_ = replica.Close()
	}
	if m.server != nil {
		_ = m.server.Close()
	}
}
