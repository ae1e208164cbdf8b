package subject_test

import (
	"net"
	"sync"
	"testing"
)

// mute listens on loopback and says nothing to whoever connects. The channel
// is closed at the first connection; hangUp ends all that there are.
func mute(t *testing.T) (port int, reached <-chan struct{}, hangUp func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := make(chan struct{})
	var group sync.WaitGroup
	var conns []net.Conn
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if conns = append(conns, conn); len(conns) == 1 {
				close(first)
			}
		}
	})
	hangUp = sync.OnceFunc(func() {
		listener.Close()
		group.Wait()
		for _, c := range conns {
			c.Close()
		}
	})
	t.Cleanup(hangUp)
	return listener.Addr().(*net.TCPAddr).Port, first, hangUp
}
