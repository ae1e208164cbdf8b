package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// filler is the file that takes what is free of a server's disk.
const filler = "/rowproof/filler"

// FillDisk takes every free byte of the file system that the server's data
// lie in, and returns once nothing more can be written there. How much that
// is, is in Spec.DataMegabytes; it is memory of the machine.
func (s *Server) FillDisk(ctx context.Context) error {
	// The data directory is a sparse copy. A page that is written into a hole
	// must not fail, as it would not on a disk: mysqld can't bear it.
	const script = `find /rowproof/data -type f -size +0 -exec sh -c 'fallocate -n -l "$(stat -c %s "$1")" "$1"' - {} \;
head -c 1T /dev/zero 2> /dev/null >> ` + filler + `
df --output=avail -k /rowproof | tail -1`
	left, err := s.box.execute(ctx, script)
	if err == nil && strings.TrimSpace(left) != "0" {
		err = fmt.Errorf("%s kB are still free", strings.TrimSpace(left))
	}
	if err != nil {
		return fmt.Errorf("fill the disk of %s: %w", s.Name, err)
	}
	return nil
}

// FreeDisk ends FillDisk.
func (s *Server) FreeDisk(ctx context.Context) error {
	left, err := s.box.execute(ctx, "rm "+filler+" && df --output=avail -k /rowproof | tail -1")
	if err == nil && strings.TrimSpace(left) == "0" {
		err = errors.New("it is full of other things")
	}
	if err != nil {
		return fmt.Errorf("free the disk of %s: %w", s.Name, err)
	}
	return nil
}

// execute runs a script beside the program and returns what it writes.
func (b *box) execute(ctx context.Context, script string) (string, error) {
	made, err := b.engine.cli.ExecCreate(ctx, b.id, client.ExecCreateOptions{
		AttachStdout: true, AttachStderr: true, Cmd: []string{"bash", "-c", script},
	})
	if err != nil {
		return "", fmt.Errorf("execute in container: %w", err)
	}
	attach, err := b.engine.cli.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return "", fmt.Errorf("execute in container: %w", err)
	}
	defer attach.Close()
	var stdout, stderr strings.Builder
	if _, err := stdcopy.StdCopy(&stdout, &stderr, attach.Reader); err != nil {
		return "", fmt.Errorf("execute in container: %w", err)
	}
	found, err := b.engine.cli.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
	if err != nil {
		return "", fmt.Errorf("execute in container: %w", err)
	}
	if found.ExitCode != 0 {
		return "", fmt.Errorf("execute in container: status %d: %s", found.ExitCode, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
