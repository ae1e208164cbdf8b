package subject

import "syscall"

// sysProcAttr gives a subject its own process group and ties its life to
// that of the thread that starts it.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
