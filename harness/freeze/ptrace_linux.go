package freeze

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// endInterval is how often it is asked whether a frozen thread has ended: a
// killed process stays until whoever traces its threads has seen them end.
const endInterval = 10 * time.Millisecond

// own freezes the thread and holds it: all of that must be asked for by one
// and the same thread of ours, and the kernel thaws when that one ends.
func (t *Thread) own(ctx context.Context, limit time.Duration, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signal, err := stop(t.id)
	if err != nil {
		started <- err
		return
	}
	defer close(t.done)
	started <- nil

	watchdog := time.NewTimer(limit)
	defer watchdog.Stop()
	tick := time.NewTicker(endInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if ended(t.id) {
				return
			}
			continue
		case <-watchdog.C:
			t.err = fmt.Errorf("%w after %v", ErrThawedByWatchdog, limit)
		case <-ctx.Done():
		case <-t.thaw:
		}
		t.err = errors.Join(t.err, detach(t.id, signal))
		return
	}
}

// stop makes the thread stand still. A signal that reached it first is
// returned: it has to have it when it goes on.
func stop(id int) (unix.Signal, error) {
	switch err := unix.PtraceSeize(id); {
	case errors.Is(err, unix.EPERM):
		return 0, errors.New("it needs root or CAP_SYS_PTRACE on this machine, and no debugger that holds the thread")
	case err != nil:
		return 0, fmt.Errorf("seize: %w", err)
	}
	if err := unix.PtraceInterrupt(id); err != nil {
		return 0, errors.Join(fmt.Errorf("interrupt: %w", err), detach(id, 0))
	}
	status, err := wait(id, 0)
	switch {
	case err != nil:
		return 0, fmt.Errorf("wait for it to stop: %w", err)
	case !status.Stopped():
		return 0, errors.New("it has ended")
	case uint32(status)>>16 == unix.PTRACE_EVENT_STOP:
		return 0, nil
	}
	return status.StopSignal(), nil
}

// ended reports whether the thread has ended while it was frozen.
func ended(id int) bool {
	status, err := wait(id, unix.WNOHANG)
	return errors.Is(err, unix.ECHILD) || err == nil && (status.Exited() || status.Signaled())
}

// wait returns the state that the thread has come to; 0 for none, with
// WNOHANG.
func wait(id int, options int) (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(id, &status, options|unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && got == 0:
			return stillThere, nil
		}
		return status, err
	}
}

// stillThere is the state of a thread that has come to no other: stopped.
const stillThere = unix.WaitStatus(0x7f)

// detach lets the thread go on, with a signal that it is to have, or 0. One
// that has ended is let go.
func detach(id int, signal unix.Signal) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(id), 0, uintptr(signal), 0, 0)
	if errno != 0 && errno != unix.ESRCH {
		return fmt.Errorf("detach: %w", errno)
	}
	if errno == unix.ESRCH {
		_ = ended(id) // its end is to be seen, or its process stays
	}
	return nil
}
