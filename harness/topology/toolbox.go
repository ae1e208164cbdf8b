package topology

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Toolbox is a container with pt-online-schema-change, which runs in it any
// number of times, one at a time. Like a server it goes with this process.
type Toolbox struct {
	engine *engine
	box    *box
}

// ToolResult is how a run of a tool ended and what it used.
type ToolResult struct {
	Status  int           // exit status; 128 and the number of the signal that killed it
	PeakRSS int64         // most memory it held at once, in bytes
	CPU     time.Duration // processor time, user and system
}

// OpenToolbox starts the container. The image is built if it is missing, with
// progress on stderr. What the tool writes goes to log.
func OpenToolbox(ctx context.Context, log io.Writer) (*Toolbox, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	image, err := e.ensureImage(ctx, ptOscRecipe(), os.Stderr)
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	b, err := e.run(ctx, boxSpec{image: image, program: "pt-online-schema-change", stderr: log})
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return &Toolbox{engine: e, box: b}, nil
}

// Start runs the tool. Secrets belong in the environment, NAME=value, since
// arguments can be seen by others.
func (t *Toolbox) Start(ctx context.Context, args, environment []string) error {
	for _, text := range append(args[:len(args):len(args)], environment...) {
		if strings.ContainsAny(text, "\r\n") {
			return errors.New("start pt-online-schema-change: no argument may have a line break")
		}
	}
	return t.box.start(ctx, args, environment...)
}

// Signal sends a signal, "KILL" or "STOP" say, to the tool and its children.
func (t *Toolbox) Signal(name string) error {
	if err := t.box.signal(name); err != nil {
		return fmt.Errorf("send SIG%s to pt-online-schema-change: %w", name, err)
	}
	return nil
}

// Wait waits until the tool has ended and its log is complete.
func (t *Toolbox) Wait(ctx context.Context) (ToolResult, error) {
	state, err := t.box.wait(ctx, func(s boxState) bool { return !s.running() && s.logs >= s.exits })
	if err != nil {
		return ToolResult{}, fmt.Errorf("wait for pt-online-schema-change: %w", err)
	}
	status, err := strconv.Atoi(state.status)
	if err != nil {
		return ToolResult{}, fmt.Errorf("wait for pt-online-schema-change: exit status %q", state.status)
	}
	r := ToolResult{Status: status}
	var kib int64
	var user, system float64
	if _, err := fmt.Sscan(state.used, &kib, &user, &system); err != nil {
		return ToolResult{}, fmt.Errorf("wait for pt-online-schema-change: figures %q", state.used)
	}
	r.PeakRSS = kib * 1024
	r.CPU = time.Duration((user + system) * float64(time.Second))
	return r, nil
}

// Reach returns the address under which the tool reaches one that listens on
// this machine's loopback.
func (t *Toolbox) Reach(addr string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(addr)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("reach %s from a container: %w", addr, err)
	case !t.engine.bridge:
		return host, port, nil
	case t.engine.desktop: // it forwards this name to the host's loopback
		return "host.docker.internal", port, nil
	}
	return "", "", fmt.Errorf("reach %s from a container: it has a network of its own; leave %s unset", addr, NetworkVariable)
}

// Close ends the tool and its container.
func (t *Toolbox) Close() error {
	if err := errors.Join(t.box.discard(), t.engine.close()); err != nil {
		return fmt.Errorf("close container: %w", err)
	}
	return nil
}
