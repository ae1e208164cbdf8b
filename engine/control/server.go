package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Server listens on a unix socket that its owner alone may use.
type Server struct {
	path     string
	listener *net.UnixListener
}

// A client that sends nothing must not hold a connection for ever.
const (
	talk    = 10 * time.Second
	maxLine = 4096
)

// Listen opens the socket. A file that a run of ours left there is replaced;
// a socket that somebody answers on, or a file of another kind, is an error.
func Listen(path string) (*Server, error) {
	if err := free(path); err != nil {
		return nil, fmt.Errorf("open control socket %s: %w", path, err)
	}
	// Made in a folder that is ours alone, and moved into its place when its
	// mode is right: at no time can somebody else connect.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".osc")
	if err != nil {
		return nil, fmt.Errorf("open control socket %s: %w", path, err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open control socket %s: %w", path, err)
	}
	listener.SetUnlinkOnClose(false)
	err = os.Chmod(made, 0o600)
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open control socket %s: %w", path, err), listener.Close())
	}
	return &Server{path: path, listener: listener}, nil
}

// free reports an error unless the path can be taken.
func free(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("a file of that name exists and is no socket")
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return nil //nolint:nilerr // nobody answers: whoever made it is dead
	}
	conn.Close()
	return errors.New("somebody answers there: is another migration of the table running?")
}

// Serve answers clients until ctx ends, which is not an error.
func (s *Server) Serve(ctx context.Context, commands Commands) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	stop := context.AfterFunc(ctx, func() { _ = s.listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		conn, err := s.listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve control socket: %w", err)
		}
		clients.Go(func() { answer(ctx, conn, commands) })
	}
}

// answer serves one client. What goes wrong with it is its own affair: it
// has gone, or sees that the answer is cut.
func answer(ctx context.Context, conn net.Conn, commands Commands) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(talk))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	line, err := bufio.NewReader(io.LimitReader(conn, maxLine)).ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return
	}
	_, _ = io.WriteString(conn, commands.Answer(ctx, line)+"\n")
}

// Close stops listening and removes the socket.
func (s *Server) Close() error {
	err := s.listener.Close()
	if gone := os.Remove(s.path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
