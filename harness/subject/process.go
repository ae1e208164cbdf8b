package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is a running subject on this machine. Its whole process group ends
// with it, with the context it was started under, and with the harness itself.
type process struct {
	cmd    *exec.Cmd
	done   chan struct{}
	result Result // valid once done is closed
	err    error  // likewise
}

// drainTime is how long the log may take to end after the process has: a
// descendant that escaped its process group can hold the pipe open.
const drainTime = 2 * time.Second

func startProcess(ctx context.Context, c Command, log string) (*process, error) {
	name := filepath.Base(c.Argv[0])
	out, err := openLog(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	stderr := &lastLine{to: out, idle: c.idle}

	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout = out
	cmd.Stderr = stderr
	cmd.WaitDelay = drainTime
	cmd.SysProcAttr = sysProcAttr()
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid, syscall.SIGKILL) }

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.own(started, func() error {
		p.result.Exit.Message = stderr.String()
		return out.Close()
	}, c.Outcome)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// own starts the command and waits for it on one thread: Linux sends the
// parent-death signal when the *thread* that forked ends, so that thread has
// to live as long as the child.
func (p *process) own(started chan<- error, finish func() error, outcome func(int, string) string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := p.cmd.Start(); err != nil {
		started <- errors.Join(err, finish())
		return
	}
	defer close(p.done)
	inherited := selfPeakRSS() // no less than at the start, since a peak never falls
	watch := watchMemory(p.cmd.Process.Pid)
	started <- nil

	err := p.cmd.Wait()
	// What the subject left behind in its group must not disturb the run.
	// No such group is the usual case.
	_ = killGroup(p.cmd.Process.Pid, syscall.SIGKILL)
	sampled := watch.stop()
	p.err = errors.Join(waitError(err), finish())

	state := p.cmd.ProcessState
	p.result.CPU = state.UserTime() + state.SystemTime()
	p.result.PeakRSS = peakRSS(state, inherited, sampled)
	p.result.Exit.Code = state.ExitCode()
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		p.result.Exit.Outcome = Killed
		p.result.Exit.Signal = signalName(status.Signal())
	} else {
		p.result.Exit.Outcome = outcome(state.ExitCode(), p.result.Exit.Message)
	}
}

// waitError keeps what went wrong with the log. How the process ended is its
// result, and no error of ours.
func waitError(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	}
	return fmt.Errorf("wait for subject: %w", err)
}

// Pid returns the process id, which is also that of its process group. A
// subject in a container has none on this machine.
func (p *process) Pid() int { return p.cmd.Process.Pid }

// Signal implements Running.
func (p *process) Signal(s syscall.Signal) error {
	select {
	case <-p.done:
		return os.ErrProcessDone
	default:
	}
	err := killGroup(p.Pid(), s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("send %s to subject: %w", signalName(s), err)
	}
	return nil
}

// Done implements Running.
func (p *process) Done() <-chan struct{} { return p.done }

// Wait implements Running.
func (p *process) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for subject: %w", context.Cause(ctx))
	}
}

func killGroup(pid int, s syscall.Signal) error { return syscall.Kill(-pid, s) }
