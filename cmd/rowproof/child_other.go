//go:build unix && !linux

package main

import "syscall"

// sysProcAttr gives the scenarios a process group of their own, so that an
// interrupt at the terminal reaches them once and through us.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
