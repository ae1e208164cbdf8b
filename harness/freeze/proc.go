package freeze

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HostThread returns the number on this machine of a thread of the process
// pid, given the number that the process itself has for it: in a container
// threads are counted anew.
func HostThread(pid, inside int) (int, error) {
	tasks := filepath.Join("/proc", strconv.Itoa(pid), "task")
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return 0, fmt.Errorf("find thread %d of process %d: %w", inside, pid, err)
	}
	for _, e := range entries {
		numbers, err := field(filepath.Join(tasks, e.Name(), "status"), "NSpid")
		if err != nil {
			continue // it has just ended
		}
		// One number for each namespace, from the outermost to its own.
		all := strings.Fields(numbers)
		if len(all) == 0 || all[len(all)-1] != strconv.Itoa(inside) {
			continue
		}
		if id, err := strconv.Atoi(e.Name()); err == nil {
			return id, nil
		}
	}
	return 0, fmt.Errorf("find thread %d of process %d: it has no such thread", inside, pid)
}

// State returns what a thread does, as the kernel tells it: "S" sleeps, "R"
// runs, "T" is stopped by a signal, "t" is frozen.
func State(id int) (string, error) {
	text, err := field(filepath.Join("/proc", strconv.Itoa(id), "status"), "State")
	if err != nil {
		return "", fmt.Errorf("read state of thread %d: %w", id, err)
	}
	return text[:1], nil
}

// field returns one field of a status file.
func field(path, name string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(data) {
		if key, value, _ := strings.Cut(string(line), ":"); key == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s has no field %s", path, name)
}
