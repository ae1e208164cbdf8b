package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
)

// Ask sends one command to the socket of a running migration and returns its
// answer.
func Ask(ctx context.Context, path, command string) (string, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return "", fmt.Errorf("ask %s: no migration listens there", path)
	case err != nil:
		return "", fmt.Errorf("ask %s: %w", path, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, command+"\n"); err != nil {
		return "", fmt.Errorf("ask %s: %w", path, err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", path, err)
	}
	answer := strings.TrimSuffix(string(text), "\n")
	if problem, bad := strings.CutPrefix(answer, failed); bad {
		return "", errors.New(problem)
	}
	if answer == "" {
		return "", fmt.Errorf("ask %s: it closed the connection without an answer", path)
	}
	return answer, nil
}
