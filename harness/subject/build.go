package subject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build makes what subjects need to run: it builds the engine and its mutants,
// each at most once, and keeps containers and private files of other tools.
// Make one per process; it is safe for use by many goroutines.
type Build struct {
	root string
	dir  string
	// turn holds the programs built so far, by mutant. Who takes it builds
	// alone: the go command keeps all cores busy by itself.
	turn  chan map[string]string
	boxes boxes
}

// NewBuild returns a builder for the module at root. It keeps programs in a
// temporary directory until Close.
func NewBuild(root string) (*Build, error) {
	dir, err := os.MkdirTemp("", "rowproof-build-")
	if err != nil {
		return nil, fmt.Errorf("make build directory: %w", err)
	}
	b := &Build{root: root, dir: dir, turn: make(chan map[string]string, 1)}
	b.turn <- map[string]string{}
	return b, nil
}

// Close removes all of it. No subject may run any more, nor be started.
func (b *Build) Close() error {
	err := b.boxes.close()
	if removed := os.RemoveAll(b.dir); removed != nil {
		err = errors.Join(err, fmt.Errorf("remove build directory: %w", removed))
	}
	return err
}

// private makes a directory for the files of one run of a tool.
func (b *Build) private(tool string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, tool+"-")
	if err != nil {
		return "", fmt.Errorf("make directory for %s: %w", tool, err)
	}
	return dir, nil
}

// program returns the path of osc, with the patch of a mutant unless that is
// "". A failed build is tried again by the next caller.
func (b *Build) program(ctx context.Context, mutant string) (string, error) {
	var built map[string]string
	select {
	case built = <-b.turn:
		defer func() { b.turn <- built }()
	case <-ctx.Done():
		return "", fmt.Errorf("build osc: %w", context.Cause(ctx))
	}
	if path, ok := built[mutant]; ok {
		return path, nil
	}

	path := filepath.Join(b.dir, "osc")
	args := []string{"build", "-o", path}
	if mutant != "" {
		path = filepath.Join(b.dir, "osc-"+mutant)
		overlay, err := b.overlay(mutant)
		if err != nil {
			return "", err
		}
		args = []string{"build", "-o", path, "-overlay", overlay}
	}
	if err := b.goRun(ctx, append(args, "./cmd/osc")); err != nil {
		if mutant != "" {
			return "", fmt.Errorf("build mutant %s: %w", mutant, err)
		}
		return "", fmt.Errorf("build osc: %w", err)
	}
	built[mutant] = path
	return path, nil
}

// overlay writes the patched files of a mutant and returns the path of the
// file that tells `go build` to take them instead of the module's own.
func (b *Build) overlay(mutant string) (string, error) {
	p, err := readPatch(b.root, mutant)
	if err != nil {
		return "", err
	}
	files, err := p.apply(b.root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.dir, mutant)
	replace := make(map[string]string, len(files))
	for name, content := range files {
		original := filepath.Join(b.root, filepath.FromSlash(name))
		if content == nil { // deleted: an empty path hides the file
			replace[original] = ""
			continue
		}
		patched := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(patched), 0o755); err != nil {
			return "", fmt.Errorf("write mutant %s: %w", mutant, err)
		}
		if err := os.WriteFile(patched, content, 0o644); err != nil {
			return "", fmt.Errorf("write mutant %s: %w", mutant, err)
		}
		replace[original] = patched
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("write overlay of mutant %s: %w", mutant, err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", fmt.Errorf("write overlay of mutant %s: %w", mutant, err)
	}
	return path, nil
}

// goRun runs the go command in the module. Its error holds what the command
// wrote, since that says which line does not compile.
func (b *Build) goRun(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the go command is needed and is not in PATH: %w", err)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
