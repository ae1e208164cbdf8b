package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// Traceable tries whether this process could freeze a thread of the server.
// The error says in one line what stands in the way.
func (s *Server) Traceable(ctx context.Context) error {
	found, err := s.box.engine.cli.ContainerInspect(ctx, s.box.id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect container: %w", err)
	}
	if found.Container.State == nil || found.Container.State.Pid == 0 {
		return errors.New("the container does not run")
	}
	pid := found.Container.State.Pid
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(command), "rowproof/serve") {
		return errors.New("the server's processes can't be seen from here: the engine is on another machine, or this is a container")
	}
	if err := traceOnce(pid); err != nil {
		reason := err.Error()
		if errors.Is(err, syscall.EPERM) {
			reason = "not permitted, it needs root or CAP_SYS_PTRACE"
		}
		return fmt.Errorf("trace process %d: %s", pid, reason)
	}
	return nil
}

// traceOnce stops a thread and lets it go on. Only the thread that stopped it
// can do the latter, and one that is traced outlives its own end.
func traceOnce(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return err
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	if !status.Stopped() { // it ended meanwhile
		return unix.ESRCH
	}
	return unix.PtraceDetach(pid)
}
