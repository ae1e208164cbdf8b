//go:build unix && !linux

package subject

import "syscall"

// sysProcAttr gives a subject its own process group. Only Linux can tie its
// life to that of the harness.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
