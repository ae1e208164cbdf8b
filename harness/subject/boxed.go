package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"rowproof/harness/topology"
)

// boxes are containers with a tool in them. One is opened when none is free,
// and kept for the next run.
type boxes struct {
	mu   sync.Mutex
	idle []*box
}

// box is a container in which a tool runs, once at a time.
type box struct {
	*topology.Toolbox
	log boxLog
}

// boxLog is where a tool's output goes: to the log of its present run.
type boxLog struct {
	mu sync.Mutex
	to *lastLine
}

func (l *boxLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil { // between two runs
		return len(data), nil
	}
	return l.to.Write(data)
}

// turn lets the output go to another log.
func (l *boxLog) turn(to *lastLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

func (b *boxes) take(ctx context.Context) (*box, error) {
	b.mu.Lock()
	if n := len(b.idle); n > 0 {
		free := b.idle[n-1]
		b.idle = b.idle[:n-1]
		b.mu.Unlock()
		return free, nil
	}
	b.mu.Unlock()
	made := new(box)
	var err error
	made.Toolbox, err = topology.OpenToolbox(ctx, &made.log)
	return made, err
}

func (b *boxes) give(free *box) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.idle = append(b.idle, free)
}

// close ends the containers that are free.
func (b *boxes) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, free := range b.idle {
		errs = append(errs, free.Close())
	}
	b.idle = nil
	return errors.Join(errs...)
}

// boxed is a running subject in a container.
type boxed struct {
	box    *box
	done   chan struct{}
	result Result // valid once done is closed
	err    error  // likewise
}

func startBoxed(ctx context.Context, c Command, log string) (*boxed, error) {
	fail := func(err error) (*boxed, error) { return nil, fmt.Errorf("start %s: %w", c.Argv[0], err) }
	out, err := openLog(log)
	if err != nil {
		return fail(err)
	}
	b, err := c.boxes.take(ctx)
	if err != nil {
		return fail(errors.Join(err, out.Close()))
	}
	output := &lastLine{to: out, idle: c.idle}
	b.log.turn(output)
	if err := b.Start(ctx, c.Argv[1:], c.Env); err != nil {
		return fail(errors.Join(err, b.Close(), out.Close()))
	}
	r := &boxed{box: b, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		err := r.await(ctx, output, c.Outcome)
		b.log.turn(nil)
		if err == nil {
			c.boxes.give(b)
		} else {
			err = errors.Join(err, b.Close())
		}
		r.err = errors.Join(err, out.Close())
	}()
	return r, nil
}

// await waits for the end, which comes at once when ctx ends.
func (r *boxed) await(ctx context.Context, output *lastLine, outcome func(int, string) string) error {
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(killed)
		_ = r.box.Signal("KILL") // it may just have ended by itself
	})
	used, err := r.box.Wait(context.WithoutCancel(ctx))
	if !stop() {
		<-killed
	}
	if err != nil {
		return err
	}
	r.result = Result{PeakRSS: used.PeakRSS, CPU: used.CPU}
	exit := &r.result.Exit
	exit.Code, exit.Message = used.Status, output.String()
	// As a shell tells it: 128 and the number of the signal.
	if s := syscall.Signal(used.Status - 128); unix.SignalName(s) != "" {
		exit.Outcome, exit.Code, exit.Signal = Killed, -1, signalName(s)
	} else {
		exit.Outcome = outcome(exit.Code, exit.Message)
	}
	return nil
}

// Signal implements Running.
func (r *boxed) Signal(s syscall.Signal) error {
	select {
	case <-r.done:
		return os.ErrProcessDone
	default:
	}
	if err := r.box.Signal(strings.TrimPrefix(signalName(s), "SIG")); err != nil {
		return fmt.Errorf("send %s to subject: %w", signalName(s), err)
	}
	return nil
}

// Done implements Running.
func (r *boxed) Done() <-chan struct{} { return r.done }

// Wait implements Running.
func (r *boxed) Wait(ctx context.Context) (Result, error) {
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for subject: %w", context.Cause(ctx))
	}
}
