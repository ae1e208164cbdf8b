package wire

import (
	"net"
	"syscall"
)

// hasLeft looks, without waiting, whether the other end of a connection has
// closed it. It can't tell while something is left to be read.
func hasLeft(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return true // it is closed on this side
	}
	left := false
	err = raw.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		left = err == nil && n == 0 || err == syscall.ECONNRESET
		return true
	})
	return left || err != nil
}
