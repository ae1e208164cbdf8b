package topology

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// PID returns the number that the server's process has on this machine. It
// fails if the engine runs on another one.
func (s *Server) PID(ctx context.Context) (int, error) {
	// No two starts of any server have the same.
	var file string
	if err := s.DB.QueryRowContext(ctx, "SELECT @@pid_file").Scan(&file); err != nil {
		return 0, fmt.Errorf("find process of %s: %w", s.Name, err)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, fmt.Errorf("find process of %s: %w", s.Name, err)
	}
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		for arg := range bytes.SplitSeq(command, []byte{0}) {
			if string(arg) == "--pid-file="+file {
				return strconv.Atoi(filepath.Base(filepath.Dir(path)))
			}
		}
	}
	return 0, fmt.Errorf("find process of %s: %w", s.Name, errors.New("it is not to be seen in /proc: the Docker engine has to run on this machine"))
}
