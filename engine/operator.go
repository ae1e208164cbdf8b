package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rowproof/engine/backfill"
	"rowproof/engine/control"
	"rowproof/engine/throttle"
)

// operator is what somebody outside can change while the migration runs.
type operator struct {
	socket    *control.Server
	chunkSize atomic.Int64
	wait      atomic.Int64 // CutOver.Wait, in nanoseconds

	mu        sync.Mutex
	feed      *backfill.Feed // of the pass that is under way
	hurried   bool           // the command cut-over was given
	postponed string         // why the tables are not swapped yet

	hurry chan struct{} // holds a value after the command cut-over: who waits looks again
}

// openControl opens the control socket, and makes the file that postpones
// the cut-over.
func (m *migration) openControl(context.Context) (err error) {
	m.operator.hurry = make(chan struct{}, 1)
	m.operator.chunkSize.Store(int64(m.cfg.Copy.ChunkSize))
	m.operator.wait.Store(int64(m.cfg.CutOver.Wait))
	if path := m.cfg.CutOver.PostponeFile; path != "" {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return fmt.Errorf("make --postpone-cut-over-flag-file: %w", err)
		}
		if err := file.Close(); err != nil {
			return fmt.Errorf("make --postpone-cut-over-flag-file: %w", err)
		}
	}
	path := m.cfg.Operator.Socket
	switch path {
	case NoSocket:
		return nil
	case "":
		path = control.DefaultPath(m.cfg.Server.Address(), m.names.original.Schema, m.names.original.Name)
	}
	if m.operator.socket, err = control.Listen(path); err != nil {
		return err
	}
	m.cfg.Log.Info("listening for commands", "socket", path)
	return nil
}

// serve answers commands until ctx ends.
func (m *migration) serve(ctx context.Context) error {
	if m.operator.socket == nil {
		return nil
	}
	return m.operator.socket.Serve(ctx, m.commands())
}

// closeControl removes the control socket. If it stays, the next run on it
// finds that nobody answers, and replaces it.
func (m *migration) closeControl() {
	if m.operator.socket != nil {
		_ = m.operator.socket.Close()
	}
}

func (m *migration) commands() control.Commands {
	return control.Commands{
		{Name: "status", Help: "how far the migration is, and what it waits for",
			Run: func(context.Context, []string) (string, error) { return m.status().String(), nil }},
		{Name: "pause", Help: "copy nothing and don't swap the tables until resume; changes are applied all the same",
			Run: func(context.Context, []string) (string, error) {
				m.cfg.Log.Info("the operator pauses the copy")
				m.throttle.Pause()
				return "paused", nil
			}},
		{Name: "resume", Help: "end pause",
			Run: func(context.Context, []string) (string, error) {
				m.cfg.Log.Info("the operator resumes the copy")
				m.throttle.Resume()
				if reason := m.throttle.Reason().Text; reason != "" {
					return "resumed, but it waits: " + reason, nil
				}
				return "resumed", nil
			}},
		{Name: "cut-over", Help: "swap the tables as soon as they are ready, without waiting for the flag file or the next try",
			Run: func(context.Context, []string) (string, error) { return m.operator.cutOver(), nil }},
		{Name: "abort", Help: "end the migration; the original stays as it is",
			Run: func(context.Context, []string) (string, error) {
				m.background.cancel(errors.New("aborted by the operator"))
				return "aborting", nil
			}},
		{Name: "set", Args: []string{"NAME", "VALUE"}, Help: "change " + settingNames,
			Run: func(_ context.Context, args []string) (string, error) {
				if err := m.set(args[0], args[1]); err != nil {
					return "", err
				}
				m.cfg.Log.Info("the operator changes a setting", "name", args[0], "value", args[1])
				return args[0] + " is " + args[1], nil
			}},
	}
}

const settingNames = "chunk-size, max-lag-millis, max-load, critical-load, max-history-length, nice-ratio or cut-over-lock-timeout-seconds"

// set changes a setting that has the name of its flag.
func (m *migration) set(name, value string) error {
	limits := m.throttle.Limits()
	var err error
	switch name {
	case "chunk-size":
		return m.setChunkSize(value)
	case "cut-over-lock-timeout-seconds":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 60 {
			return fmt.Errorf("%s=%s: want 1 to 60", name, value)
		}
		m.operator.wait.Store(int64(time.Duration(n) * time.Second))
		return nil
	case "max-lag-millis":
		var n int64
		n, err = strconv.ParseInt(value, 10, 32)
		if err == nil && n < 1 {
			err = errors.New("want a positive number")
		}
		limits.MaxLag = time.Duration(n) * time.Millisecond
	case "max-load":
		limits.MaxLoad, err = m.parseLoad(value)
	case "critical-load":
		limits.CriticalLoad, err = m.parseLoad(value)
	case "max-history-length":
		limits.MaxHistory, err = strconv.ParseInt(value, 10, 64)
	case "nice-ratio":
		limits.NiceRatio, err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("unknown setting %q; there are %s", name, settingNames)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return m.throttle.SetLimits(limits)
}

// parseLoad reads a load whose variables the server has.
func (m *migration) parseLoad(text string) (throttle.Load, error) {
	load, err := throttle.ParseLoad(text)
	if err != nil {
		return nil, err
	}
	return load, m.checkLoad(m.background.ctx, load)
}

func (m *migration) setChunkSize(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 100_000 {
		return fmt.Errorf("chunk-size=%s: want 1 to 100000 rows, or 0", value)
	}
	m.operator.chunkSize.Store(int64(n))
	m.operator.mu.Lock()
	defer m.operator.mu.Unlock()
	if m.operator.feed != nil {
		m.operator.feed.Resize(m.sizer())
	}
	return nil
}

// cutOver ends the postponement and the pause between two tries.
func (o *operator) cutOver() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurried = true
	select {
	case o.hurry <- struct{}{}:
	default: // whoever waits has not looked yet
	}
	if o.postponed != "" {
		return "cutting over"
	}
	return "the cut-over will not be postponed"
}

func (o *operator) hurries() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hurried
}

func (o *operator) use(feed *backfill.Feed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.feed = feed
}

func (o *operator) postponement() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.postponed
}

func (o *operator) postpone(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.postponed = why
}

// postpone waits while the flag file is there, until the operator asks for
// the cut-over. The stream and the applier go on.
func (m *migration) postpone(ctx context.Context) error {
	path := m.cfg.CutOver.PostponeFile
	if path == "" {
		return nil
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer m.operator.postpone("")
	for told := false; ; told = true {
		// A file that can't be looked at may be there.
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || m.operator.hurries() {
			return nil
		}
		if !told {
			m.operator.postpone("until " + path + " is removed or the command cut-over comes")
			m.progress.begin("postponed", 0)
			m.cfg.Log.Info("the cut-over is postponed", "flag file", path)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.operator.hurry:
		case <-tick.C:
		}
	}
}
