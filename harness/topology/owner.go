package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/process"
)

// Labels of our containers. They name the process that made them so that it
// can't be mistaken: a process ID alone is given again, and means nothing
// after a reboot or in another process namespace.
const (
	labelMark  = "rowproof"
	labelScope = "rowproof.owner.scope" // the boot and the namespace in which the ID counts
	labelPID   = "rowproof.owner.pid"
	labelStart = "rowproof.owner.start" // milliseconds since 1970
)

// ownerLabels returns the labels of a container that this process makes.
func ownerLabels(ctx context.Context) (map[string]string, error) {
	scope, err := ownerScope(ctx)
	if err != nil {
		return nil, err
	}
	start, err := startTime(ctx, os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("read own start time: %w", err)
	}
	return map[string]string{
		labelMark:  "container",
		labelScope: scope,
		labelPID:   strconv.Itoa(os.Getpid()),
		labelStart: start,
	}, nil
}

// ownerScope returns what makes process IDs comparable.
func ownerScope(ctx context.Context) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, os.ErrNotExist) { // not Linux
		id, err := host.HostIDWithContext(ctx)
		if err != nil {
			return "", fmt.Errorf("read host ID: %w", err)
		}
		return id, nil
	}
	if err != nil {
		return "", fmt.Errorf("read boot ID: %w", err)
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("read process namespace: %w", err)
	}
	return fmt.Sprintf("%.36s %s", boot, namespace), nil
}

func startTime(ctx context.Context, pid int) (string, error) {
	p, err := process.NewProcessWithContext(ctx, int32(pid))
	if err != nil {
		return "", err
	}
	at, err := p.CreateTimeWithContext(ctx)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(at, 10), nil
}

// Sweep removes the containers whose owner is dead. It leaves alone those
// whose owner lives and those of which it can't tell: an owner in another
// container or from before a reboot.
func Sweep(ctx context.Context) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	return errors.Join(e.sweep(ctx), e.close())
}

func (e *engine) sweep(ctx context.Context) error {
	scope, err := ownerScope(ctx)
	if err != nil {
		return err
	}
	found, err := e.cli.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", labelScope+"="+scope),
	})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	var errs []error
	for _, c := range found.Items {
		if !alive(ctx, c.Labels[labelPID], c.Labels[labelStart]) {
			errs = append(errs, e.remove(ctx, c.ID))
		}
	}
	return errors.Join(errs...)
}

// alive reports whether the process runs that had this ID when it started at
// start. What it can't find out counts as alive.
func alive(ctx context.Context, pid, start string) bool {
	id, err := strconv.Atoi(pid)
	if err != nil {
		return true
	}
	now, err := startTime(ctx, id)
	if errors.Is(err, process.ErrorProcessNotRunning) || errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || now == start
}

// remove kills a container and waits until the engine has forgotten it.
func (e *engine) remove(ctx context.Context, id string) error {
	_, err := e.cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{RemoveVolumes: true, Force: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // conflict: it is going already
		return fmt.Errorf("remove container %.12s: %w", id, err)
	}
	return poll(ctx, "container "+id[:12]+" to go", func() (bool, error) {
		_, err := e.cli.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		if err != nil && !errdefs.IsNotFound(err) {
			return false, err
		}
		return err != nil, nil
	})
}
