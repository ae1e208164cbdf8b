//go:build unix

package topology

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file against other processes, and against other openings
// in this one. It reports false if somebody else has it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
