package main

import "syscall"

// sysProcAttr gives the scenarios a process group of their own, so that an
// interrupt at the terminal reaches them once and through us, and ties their
// life to ours.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
