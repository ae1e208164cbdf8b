package fault

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"rowproof/harness/freeze"
)

// KillSubject kills the subject (SIGKILL) and returns once it is gone.
func KillSubject() Action { return signalled("kill the subject", syscall.SIGKILL) }

// TerminateSubject asks the subject to end (SIGTERM) and returns once it has:
// what it does before is its own affair.
func TerminateSubject() Action { return signalled("terminate the subject", syscall.SIGTERM) }

func signalled(name string, signal syscall.Signal) Action {
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		ctx, cancel := settle(ctx)
		defer cancel()
		subject, err := s.running()
		if err != nil {
			return err
		}
		if err := subject.Signal(signal); err != nil {
			return err
		}
		return seen(ctx, "the subject has ended", func(context.Context) (bool, error) {
			select {
			case <-subject.Done():
				return true, nil
			default:
				return false, nil
			}
		})
	}}
}

// StopSubject makes the subject stand still (SIGSTOP). End lets it go on
// (SIGCONT); it must come in the same fault, or at a moment that comes
// without the subject. The subject has to be a process of this machine:
// elsewhere it can't be seen that it stands.
func StopSubject() Action {
	return lasting("stop the subject", func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		ctx, cancel := settle(ctx)
		defer cancel()
		subject, err := s.running()
		if err != nil {
			return nil, err
		}
		process, ok := subject.(interface{ Pid() int })
		if !ok {
			return nil, errors.New("the subject is no process of this machine, so it can't be seen that it stands")
		}
		if err := subject.Signal(syscall.SIGSTOP); err != nil {
			return nil, err
		}
		proceed := func(ctx context.Context) error {
			if err := subject.Signal(syscall.SIGCONT); err != nil {
				return err
			}
			return stands(ctx, process.Pid(), false)
		}
		if err := stands(ctx, process.Pid(), true); err != nil {
			return nil, errors.Join(err, proceed(context.WithoutCancel(ctx)))
		}
		return proceed, nil
	})
}

// stands waits until a process is stopped by a signal, or is not.
func stands(ctx context.Context, pid int, want bool) error {
	what := map[bool]string{true: "stands still", false: "goes on"}[want]
	return seen(ctx, fmt.Sprintf("process %d %s", pid, what), func(context.Context) (bool, error) {
		state, err := freeze.State(pid)
		return (state == "T") == want, err
	})
}
