package subject

import (
	"context"
	"syscall"
	"time"

	"rowproof/harness/history"
)

// Running is a subject that was started: a process on this machine, or one in
// a container.
type Running interface {
	// Signal sends a signal to the subject and to what it started. It returns
	// os.ErrProcessDone if the subject has ended.
	Signal(syscall.Signal) error
	// Done is closed once the subject has ended and its log is complete.
	Done() <-chan struct{}
	// Wait returns how the subject ended. It returns early, with the error of
	// ctx, if that ends first; the subject then goes on.
	Wait(context.Context) (Result, error)
}

// Result is how a subject ended and what it used.
type Result struct {
	Exit    history.Exit  // without At, which only the caller's clock knows
	PeakRSS int64         // most memory it held at once, in bytes; 0 if unknown
	CPU     time.Duration // processor time, user and system; 0 if unknown
}

// Start runs a command. Its output is appended to the file log. It is killed
// when ctx ends; Wait must be called in any case.
func Start(ctx context.Context, c Command, log string) (Running, error) {
	if c.boxes != nil {
		return startBoxed(ctx, c, log)
	}
	return startProcess(ctx, c, log)
}
