package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"rowproof/harness/bench/figures"
	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// streamer is a tool that follows the binlog and can be held between its copy
// and its cut-over.
type streamer interface {
	phrasebook() wire.Phrasebook
	// shadow is the name of the table that the tool builds.
	shadow() string
	// hold prepares a run through a proxy that stops when the copy is done.
	hold(ctx context.Context, p *wire.Proxy) (held, error)
}

// held is a run that stops when the copy is done.
type held struct {
	command subject.Command
	copied  func(context.Context) error // returns when the copy is done
	release func()                      // lets it go on to its cut-over
}

// backlog times how long a tool takes to apply changes that piled up while
// its binlog stream stood still.
func (b *bench) backlog(ctx context.Context, c contender) (run figures.Run, err error) {
	proxy, err := wire.Listen(ctx, wire.Config{Upstream: b.site.server.Addr, Phrasebook: c.stream.phrasebook()})
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, proxy.Close()) }()
	h, err := c.stream.hold(ctx, proxy)
	if err != nil {
		return run, err
	}
	log := filepath.Join(b.cfg.Logs, c.name+".log")
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	p, err := subject.Start(ctx, h.command, log)
	if err != nil {
		return run, err
	}
	alive, ended := context.WithCancelCause(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		<-p.Done()
		ended(errors.New("the tool has ended before its time"))
	})
	took, err := b.pileUp(alive, c, proxy, h)
	if err != nil {
		kill()
	} else {
		h.release()
	}
	used, failed := finish(ctx, p, log)
	watcher.Wait()
	if err != nil {
		return run, err
	}
	return figures.Run{
		Seconds: took.Seconds(), Changes: b.cfg.Changes, PeakBytes: used.peakBytes, CPU: used.cpu.Seconds(),
	}, failed
}

// pileUp waits for the copy, piles up the changes, lets go of the stream and
// returns how long it took until all of them were in the shadow.
func (b *bench) pileUp(ctx context.Context, c contender, proxy *wire.Proxy, h held) (time.Duration, error) {
	if err := h.copied(ctx); err != nil {
		return 0, err
	}
	// Every match: a tool that takes the silence for a broken connection comes
	// again, and must not get the changes then.
	stream := proxy.EventGate(wire.EventRule{
		Name: "a change", Action: wire.Hold,
		Match: func(e wire.Event) bool { return e.Kind == wire.EventRows && e.Table == b.site.table.Name },
	})
	defer stream.Remove()
	mark, err := b.site.nextMark(ctx)
	if err != nil {
		return 0, err
	}
	last, err := b.site.change(ctx, b.cfg.Changes, mark)
	if err != nil {
		return 0, err
	}
	if err := b.site.waits(ctx, stream); err != nil {
		return 0, err
	}
	if early, err := b.site.marked(ctx, c.stream.shadow(), mark); err != nil {
		return 0, err
	} else if early > 0 {
		return 0, fmt.Errorf("%d changes were applied before the clock ran", early)
	}
	started := time.Now()
	stream.Remove()
	if err := b.site.applied(ctx, c.stream.shadow(), pile{b.distinct(), mark, last}); err != nil {
		return 0, err
	}
	return time.Since(started), proxy.Err()
}

// waits returns once a stream stands at the gate. One that stood there may
// have been given up by its tool, which then comes again.
func (s *site) waits(ctx context.Context, stream *wire.Gate) error {
	for {
		hit, err := stream.Wait(ctx)
		if err != nil {
			return err
		}
		var alive bool
		err = s.server.DB.QueryRowContext(ctx,
			"SELECT EXISTS (SELECT * FROM performance_schema.processlist WHERE ID = ?)", hit.Command.ServerThread).Scan(&alive)
		if err != nil {
			return fmt.Errorf("look for the binlog stream: %w", err)
		}
		if alive {
			return nil
		}
	}
}

// marked counts the rows of a table that have a mark.
func (s *site) marked(ctx context.Context, table string, mark int64) (n int64, err error) {
	err = s.server.DB.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s.%s WHERE k = %d",
		quote(topology.Database), quote(table), mark)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count changes: %w", err)
	}
	return n, nil
}

// distinct is how many rows the changes touch.
func (b *bench) distinct() int64 { return min(b.cfg.Changes, b.site.table.Rows) }

const (
	changers    = 4
	transaction = 100 // single-row changes
	// stride spreads the changes over the table. It is prime, and larger than
	// any table here is likely to be divided by.
	stride = 1_000_003
)

// nextMark returns a value of k that no row has.
func (s *site) nextMark(ctx context.Context) (mark int64, err error) {
	err = s.server.DB.QueryRowContext(ctx, "SELECT LEAST(IFNULL(MIN(k), 0), 0) - 1 FROM "+s.name()).Scan(&mark)
	if err != nil {
		return 0, fmt.Errorf("find a mark: %w", err)
	}
	return mark, nil
}

// row is the key of the n-th change: all over the table, each row once before
// any comes twice.
func (s *site) row(n int64) int64 {
	step := int64(stride)
	if s.table.Rows%stride == 0 {
		step = 1
	}
	return 1 + n%s.table.Rows*step%s.table.Rows
}

// change makes changes of one row each, which mark the rows. It returns the
// keys of the rows that were changed last.
func (s *site) change(ctx context.Context, changes, mark int64) (last []int64, err error) {
	config := s.server.Config(topology.App(), topology.Database)
	config.MultiStatements = true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("make changes: %w", err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	group, ctx := errgroup.WithContext(ctx)
	last = make([]int64, changers)
	for w := range int64(changers) {
		group.Go(func() error {
			conn, err := db.Conn(ctx)
			if err != nil {
				return fmt.Errorf("make changes: %w", err)
			}
			defer conn.Close()
			first, end := changes*w/changers, changes*(w+1)/changers
			for n := first; n < end; n += transaction {
				var text strings.Builder
				text.WriteString("BEGIN;")
				for i := n; i < min(n+transaction, end); i++ {
					last[w] = s.row(i)
					fmt.Fprintf(&text, "UPDATE %s SET k=%d WHERE id=%d;", quote(s.table.Name), mark, last[w])
				}
				text.WriteString("COMMIT")
				if _, err := conn.ExecContext(ctx, text.String()); err != nil {
					return fmt.Errorf("make changes: %w", err)
				}
			}
			return nil
		})
	}
	return last, group.Wait()
}

// pile is what has to arrive in the shadow.
type pile struct {
	rows int64   // how many
	mark int64   // their k
	last []int64 // keys of those that changed last
}

const lookEvery = 5 * time.Millisecond

// applied returns when the whole pile is in the shadow. It looks for the rows
// that changed last, which is cheap, and counts once they are there.
func (s *site) applied(ctx context.Context, shadow string, p pile) error {
	name := quote(topology.Database) + "." + quote(shadow)
	keys := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.last)), ","), "[]")
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for _, until := range []struct {
		where string
		rows  int64
	}{
		{fmt.Sprintf("id IN (%s) AND k = %d", keys, p.mark), distinct(p.last)},
		{fmt.Sprintf("k = %d", p.mark), p.rows},
	} {
		for {
			var n int64
			if err := s.server.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+name+" WHERE "+until.where).Scan(&n); err != nil {
				if cause := context.Cause(ctx); cause != nil {
					err = cause
				}
				return fmt.Errorf("wait for the changes to be applied: %w", err)
			}
			if n == until.rows {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("wait for the changes to be applied: %w", context.Cause(ctx))
			}
		}
	}
	return nil
}

func distinct(keys []int64) int64 {
	seen := map[int64]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	return int64(len(seen))
}

// heldEngine holds osc before its verify pass, on the wire.
type heldEngine struct {
	build *subject.Build
	site  *site
}

func (e heldEngine) phrasebook() wire.Phrasebook { return subject.Engine(e.build).Phrasebook() }

func (e heldEngine) shadow() string { return "_" + e.site.table.Name + "_new" }

func (e heldEngine) hold(ctx context.Context, p *wire.Proxy) (held, error) {
	target, err := e.site.target(p.Addr())
	if err != nil {
		return held{}, err
	}
	target.Extra = []string{"--ok-to-drop-table"}
	command, err := subject.Engine(e.build).Command(ctx, target)
	if err != nil {
		return held{}, err
	}
	gate := p.Gate(wire.Rule{Step: step.Verify, Phase: wire.Before, Occurrence: 1, Action: wire.Hold})
	return held{
		command: command,
		copied: func(ctx context.Context) error {
			_, err := gate.Wait(ctx)
			return err
		},
		release: gate.Remove,
	}, nil
}

func (g ghOst) phrasebook() wire.Phrasebook { return wire.NewPhrasebook() }

func (g ghOst) shadow() string { return "_" + g.site.table.Name + "_gho" }

// hold lets gh-ost postpone its cut-over. It copies in the order of the key,
// so the copy is done when the last row is there.
func (g ghOst) hold(_ context.Context, p *wire.Proxy) (held, error) {
	flag := filepath.Join(g.dir, "gh-ost.postpone")
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		return held{}, fmt.Errorf("write flag file: %w", err)
	}
	// Its largest batch: the default of 10 is several times slower.
	command, err := g.command(p.Addr(), "--dml-batch-size=1000", "--postpone-cut-over-flag-file", flag)
	if err != nil {
		return held{}, err
	}
	return held{
		command: command,
		copied: func(ctx context.Context) error {
			return g.site.copied(ctx, g.shadow())
		},
		release: func() { _ = os.Remove(flag) }, // one that is left keeps gh-ost waiting, which its log tells
	}, nil
}

// copied returns when the last row is in the shadow.
func (s *site) copied(ctx context.Context, shadow string) error {
	tick := time.NewTicker(lookEvery * 10)
	defer tick.Stop()
	for {
		var n int64
		err := s.server.DB.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s.%s WHERE id = %d",
			quote(topology.Database), quote(shadow), s.table.Rows)).Scan(&n)
		var missing *mysql.MySQLError
		if err != nil && (!errors.As(err, &missing) || missing.Number != noSuchTable) {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("wait for the copy: %w", err)
		}
		if n == 1 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the copy: %w", context.Cause(ctx))
		}
	}
}

// noSuchTable is the server's error number for a table that is not there.
const noSuchTable = 1146
