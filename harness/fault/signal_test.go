package fault_test

import (
	"os/exec"
	"syscall"
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/freeze"
)

// sleeper is a process as the subject.
type sleeper struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func (s *sleeper) Pid() int                      { return s.cmd.Process.Pid }
func (s *sleeper) Signal(n syscall.Signal) error { return s.cmd.Process.Signal(n) }
func (s *sleeper) Done() <-chan struct{}         { return s.done }

// unseen is a subject that is no process of this machine.
type unseen struct{ fault.Subject }

// sleeping starts one and tells the site.
func (r *rig) sleeping(t *testing.T) *sleeper {
	t.Helper()
	s := &sleeper{cmd: exec.Command("sleep", "600"), done: make(chan struct{})}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // it is killed
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.done
	})
	r.Started(s)
	return s
}

func TestSignal(t *testing.T) {
	for name, action := range map[string]fault.Action{"SIGKILL": fault.KillSubject(), "SIGTERM": fault.TerminateSubject()} {
		t.Run("OK/"+name, func(t *testing.T) {
			r := newRig(t, plain, false)
			s := r.sleeping(t)
			r.do(t, action)
			select {
			case <-s.Done():
			default:
				t.Error("the subject goes on")
			}
		})
	}

	t.Run("OK/SIGSTOP", func(t *testing.T) {
		r := newRig(t, plain, false)
		s := r.sleeping(t)
		r.do(t, fault.StopSubject())
		if got, err := freeze.State(s.Pid()); got != "T" || err != nil {
			t.Errorf("state: got %q, %v; want T", got, err)
		}
		r.do(t, fault.End("stop the subject"))
		if got, err := freeze.State(s.Pid()); got == "T" || err != nil {
			t.Errorf("state afterwards: got %q, %v; want another", got, err)
		}
	})

	t.Run("ErrNotStarted", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.KillSubject()); err == nil {
			t.Error("got no error")
		}
	})

	t.Run("ErrCantBeSeen", func(t *testing.T) {
		r := newRig(t, plain, false)
		r.Started(unseen{r.sleeping(t)})
		if err := r.try(fault.StopSubject()); err == nil {
			t.Error("got no error")
		}
	})
}
