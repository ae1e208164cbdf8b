package fault_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/topology"
)

// second is a subject that has one session and ends when told.
type second struct {
	done chan struct{}
	got  syscall.Signal
	stop func()
}

func (s *second) Done() <-chan struct{} { return s.done }

func (s *second) Signal(sig syscall.Signal) error {
	select {
	case <-s.done:
		return os.ErrProcessDone
	default:
	}
	s.got = sig
	s.stop()
	return nil
}

func TestSecondRun(t *testing.T) {
	r := newRig(t, plain, false)
	var started *second
	r.StartSecond = func(context.Context) (fault.Subject, error) {
		db := r.open(t, r.Proxy.Addr(), topology.Migrator())
		conn, err := db.Conn(t.Context())
		if err != nil {
			return nil, err
		}
		started = &second{done: make(chan struct{})}
		started.stop = func() { closing(t, conn.Close); close(started.done) }
		return started, nil
	}
	const name = "a second run of the subject"
	t.Run("OK/EndsByItself", func(t *testing.T) {
		r.do(t, fault.SecondRun())
		started.stop()
		r.do(t, fault.End(name))
		if started.got != 0 {
			t.Errorf("signal: got %v, want none", started.got)
		}
	})
	t.Run("OK/IsKilledInTheEnd", func(t *testing.T) {
		r.do(t, fault.SecondRun())
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := r.Finish(ctx); err != nil {
			t.Error(err)
		}
		if started.got != syscall.SIGKILL {
			t.Errorf("signal: got %v, want SIGKILL", started.got)
		}
	})
	t.Run("ErrNotPossible", func(t *testing.T) {
		r.StartSecond = nil
		if err := r.try(fault.SecondRun()); err == nil {
			t.Error("got no error")
		}
	})
}
