package topology_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"rowproof/harness/topology"
)

// echo is a server that sends back every line.
func echo(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				io.Copy(conn, conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return listener.Addr().String()
}

func newLink(t *testing.T, upstream string) *topology.Link {
	t.Helper()
	link, err := topology.NewLink(upstream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
	})
	return link
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// say sends a line and returns the answer.
func say(conn net.Conn, patience time.Duration) (string, error) {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

// try says a line over a connection of its own.
func try(addr string, patience time.Duration) (string, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return say(conn, patience)
}

func TestLink(t *testing.T) {
	const long, short = 10 * time.Second, 50 * time.Millisecond

	t.Run("OK", func(t *testing.T) {
		conn := dial(t, newLink(t, echo(t)).Addr)
		if got, err := say(conn, long); got != "hello\n" || err != nil {
			t.Errorf("got %q, %v, want the line back", got, err)
		}
	})
	t.Run("OKLatency", func(t *testing.T) {
		link := newLink(t, echo(t))
		conn := dial(t, link.Addr)
		latency := topology.Toxic{Name: "slow", Type: "latency", Stream: "downstream", Attributes: map[string]any{"latency": 80}}
		if err := link.Add(latency); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := say(conn, long); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 80*time.Millisecond {
			t.Errorf("an answer took %s, want 80 ms or more", took)
		}
		if err := link.Remove(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
		if got, err := say(conn, long); got != "hello\n" || err != nil {
			t.Errorf("after Remove: got %q, %v, want the line back", got, err)
		}
	})
	t.Run("OKPartition", func(t *testing.T) {
		link := newLink(t, echo(t))
		conn := dial(t, link.Addr)
		if err := link.Partition(); err != nil {
			t.Fatal(err)
		}
		if _, err := say(conn, short); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("in a partition: got %v, want silence", err)
		}
		if err := link.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := say(dial(t, link.Addr), long); got != "hello\n" || err != nil {
			t.Errorf("after Heal: got %q, %v, want the line back", got, err)
		}
	})
	t.Run("OKDown", func(t *testing.T) {
		link := newLink(t, echo(t))
		conn := dial(t, link.Addr)
		if _, err := say(conn, long); err != nil {
			t.Fatal(err)
		}
		link.Down()
		if _, err := say(conn, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("an old connection while down: got %v, want it broken", err)
		}
		if _, err := try(link.Addr, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new connection while down: got %v, want it broken", err)
		}
		link.Up()
		if got, err := say(dial(t, link.Addr), long); got != "hello\n" || err != nil {
			t.Errorf("after Up: got %q, %v, want the line back", got, err)
		}
	})
	t.Run("OKLimit", func(t *testing.T) {
		link := newLink(t, echo(t))
		conn := dial(t, link.Addr)
		link.Limit(10) // one line has 6 bytes
		if got, err := say(conn, long); got != "hello\n" || err != nil {
			t.Errorf("the first line: got %q, %v, want it back", got, err)
		}
		if _, err := say(conn, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the second line: got %v, want a broken connection", err)
		}
		link.Limit(0)
		conn = dial(t, link.Addr)
		for range 3 {
			if _, err := say(conn, long); err != nil {
				t.Errorf("after the limit: %v", err)
			}
		}
	})
	t.Run("OKClear", func(t *testing.T) {
		link := newLink(t, echo(t))
		if err := link.Partition(); err != nil {
			t.Fatal(err)
		}
		link.Clear(t.Context())
		if got, err := say(dial(t, link.Addr), long); got != "hello\n" || err != nil {
			t.Errorf("after Clear: got %q, %v, want the line back", got, err)
		}
	})
	// The peer goes away while the other side sends more than all buffers
	// hold: nothing of the link may stay behind.
	t.Run("OKCloseWhileSending", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			for block := make([]byte, 1<<16); err == nil; {
				_, err = conn.Write(block)
			}
		})
		link := newLink(t, listener.Addr().String())
		conn := dial(t, link.Addr)
		if _, err := io.ReadFull(conn, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		wg.Wait() // the sender sees the broken connection although the link is open
		listener.Close()
	})
	t.Run("OKCloseWhileSlow", func(t *testing.T) {
		link, err := topology.NewLink(echo(t))
		if err != nil {
			t.Fatal(err)
		}
		conn := dial(t, link.Addr)
		minute := topology.Toxic{Name: "slow", Type: "latency", Stream: "upstream", Attributes: map[string]any{"latency": 60_000}}
		if err := link.Add(minute); err != nil {
			t.Fatal(err)
		}
		if _, err := say(conn, short); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want no answer yet", err)
		}
		began := time.Now()
		if err := link.Close(); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("Close took %s, want it at once", took)
		}
	})
	t.Run("ErrNobodyThere", func(t *testing.T) {
		link := newLink(t, "127.0.0.1:1")
		if _, err := try(link.Addr, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want a broken connection", err)
		}
	})
	t.Run("ErrToxic", func(t *testing.T) {
		link := newLink(t, echo(t))
		for _, toxic := range []topology.Toxic{
			{Name: "x", Type: "nonsense", Stream: "upstream"},
			{Name: "x", Type: "latency", Stream: "sideways"},
			{Name: "x", Type: "reset_peer", Stream: "upstream"},
			{Name: "x", Type: "limit_data", Stream: "upstream"},
		} {
			if err := link.Add(toxic); err == nil || !strings.HasPrefix(err.Error(), "add toxic x: ") {
				t.Errorf("Add(%+v) = %v, want an error", toxic, err)
			}
		}
		if err := link.Remove(context.Background(), "x"); err == nil {
			t.Error("Remove of a toxic that is not there = nil, want an error")
		}
	})
}
