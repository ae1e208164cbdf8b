package topology_test

import (
	"context"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"rowproof/harness/topology"
)

func engine(t *testing.T) *client.Client {
	t.Helper()
	cli, err := client.New(client.FromEnv)
	must(t, err)
	t.Cleanup(func() { cli.Close() })
	return cli
}

// owned returns the containers of a process, running or not.
func owned(t *testing.T, cli *client.Client, pid int) []container.Summary {
	t.Helper()
	found, err := cli.ContainerList(t.Context(), client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", "rowproof.owner.pid="+strconv.Itoa(pid)),
	})
	must(t, err)
	return found.Items
}

// A process that is killed can't clean up; its containers go all the same.
func TestKilledOwner(t *testing.T) {
	cli := engine(t)
	cmd := helper(t, helperHolds)
	if got := len(owned(t, cli, cmd.Process.Pid)); got != 2 {
		t.Fatalf("the process has %d containers, want 2", got)
	}
	must(t, cmd.Process.Kill())
	began := time.Now()
	for len(owned(t, cli, cmd.Process.Pid)) > 0 {
		if time.Since(began) > 5*time.Second {
			t.Fatal("containers are there 5 s after their owner was killed")
		}
	}
	t.Logf("gone after %s", time.Since(began).Round(time.Millisecond))
}

func TestSweep(t *testing.T) {
	cli := engine(t)
	image, err := topology.EnsureImage(t.Context(), t.Output())
	must(t, err)
	cmd := helper(t, helperHolds)
	labels := owned(t, cli, cmd.Process.Pid)[0].Labels

	// A container that was made and never started has nothing to end it.
	create := func(change func(map[string]string)) (id string) {
		l := maps.Clone(labels)
		change(l)
		made, err := cli.ContainerCreate(t.Context(), client.ContainerCreateOptions{
			Config: &container.Config{Image: image, Labels: l},
		})
		must(t, err)
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			_, _ = cli.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{Force: true}) // it may be gone
		})
		return made.ID
	}
	exists := func(id string) bool {
		_, err := cli.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
		if err != nil && !errdefs.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	same := func(map[string]string) {}
	living := create(same)
	reused := create(func(l map[string]string) { l["rowproof.owner.start"] = "1" })
	elsewhere := create(func(l map[string]string) {
		l["rowproof.owner.scope"], l["rowproof.owner.start"] = "another machine", "1"
	})

	must(t, topology.Sweep(t.Context()))
	if !exists(living) {
		t.Error("the container of a living owner is gone")
	}
	if !exists(elsewhere) {
		t.Error("the container of an owner that can't be known is gone")
	}
	if exists(reused) {
		t.Error("the container of a dead owner whose process ID is in use again is still there")
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // says that it was killed
	must(t, topology.Sweep(t.Context()))
	if exists(living) {
		t.Error("the container of a dead owner is still there")
	}
}

func TestTwoProcesses(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	first, second := helper(t, helperWorks), helper(t, helperWorks)
	if err := first.Wait(); err != nil {
		t.Errorf("the first process: %v", err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the second process: %v", err)
	}
	execute(t, c.Source().DB, "CREATE DATABASE rowproof")
	must(t, c.WaitReplicated(within(t, patience)))
}
