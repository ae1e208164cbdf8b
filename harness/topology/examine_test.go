package topology_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"rowproof/harness/topology"
)

func TestExamineEngine(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		got, err := topology.ExamineEngine(t.Context())
		must(t, err)
		if got.Version == "" || got.Address == "" || got.Root == "" || got.Memory == 0 {
			t.Errorf("engine: got %+v, want all of it known", got)
		}
	})
	t.Run("ErrNoEngine", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "unix:///no/such/engine.sock")
		if _, err := topology.ExamineEngine(t.Context()); !errors.Is(err, topology.ErrNoEngine) {
			t.Errorf("got %v, want %v", err, topology.ErrNoEngine)
		}
	})
}

func TestExamineImages(t *testing.T) {
	name, err := topology.EnsureImage(t.Context(), t.Output())
	must(t, err)
	find := func(t *testing.T) topology.ImageState {
		t.Helper()
		states, err := topology.ExamineImages(t.Context())
		must(t, err)
		return states[0]
	}
	t.Run("OKBuilt", func(t *testing.T) {
		if got := find(t); got.Name != name || !got.Built || !got.Based {
			t.Errorf("got %+v, want %s, built", got, name)
		}
	})
	t.Run("OKChosenIsNotThere", func(t *testing.T) {
		t.Setenv(topology.ImageVariable, "rowproof.invalid/none:1")
		got := find(t)
		if got.Built || got.Based || got.Base != "rowproof.invalid/none:1" || got.Chosen != topology.ImageVariable {
			t.Errorf("got %+v, want one that is to be pulled", got)
		}
	})
}

func TestPorts(t *testing.T) {
	first, last, before, err := topology.Ports(t.Context())
	must(t, err)
	port := first
	for slices.Contains(before, port) {
		port++
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	must(t, err)
	defer listener.Close()
	_, _, used, err := topology.Ports(t.Context())
	must(t, err)
	if port > last || !slices.Contains(used, port) {
		t.Errorf("used ports: got %v, want %d among them", used, port)
	}
}

func TestLeftovers(t *testing.T) {
	cli := engine(t)
	image, err := topology.EnsureImage(t.Context(), t.Output())
	must(t, err)
	find := func(id string) (topology.Leftover, bool) {
		left, err := topology.Leftovers(t.Context())
		must(t, err)
		for _, l := range left {
			if l.ID == id {
				return l, true
			}
		}
		return topology.Leftover{}, false
	}
	create := func(labels map[string]string) string {
		made, err := cli.ContainerCreate(t.Context(), client.ContainerCreateOptions{
			Config: &container.Config{Image: image, Labels: labels},
		})
		must(t, err)
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			_, _ = cli.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{Force: true}) // it may be gone
		})
		return made.ID
	}

	t.Run("OKImage", func(t *testing.T) {
		const old = "rowproof/mysql:leftover-of-a-test"
		_, err := cli.ImageTag(t.Context(), client.ImageTagOptions{Source: image, Target: old})
		must(t, err)
		l, found := find(old)
		if !found || l.Kind != "image" || l.Kept {
			t.Fatalf("got %+v, %t, want the image to be named", l, found)
		}
		must(t, topology.RemoveLeftover(t.Context(), l))
		if _, found := find(old); found {
			t.Error("the image is still there")
		}
		if _, found := find(image); found {
			t.Error("the image in use is taken for a leftover")
		}
	})
	t.Run("OKUnknownOwnerIsKept", func(t *testing.T) {
		id := create(map[string]string{"rowproof": "container", "rowproof.owner.scope": "another machine"})
		l, found := find(id)
		if !found || !l.Kept {
			t.Fatalf("got %+v, %t, want it named and kept", l, found)
		}
		if err := topology.RemoveLeftover(t.Context(), l); err == nil {
			t.Error("remove: got no error")
		}
		if _, found := find(id); !found {
			t.Error("it is gone")
		}
	})
	t.Run("OKContainers", func(t *testing.T) {
		c := start(t, topology.Spec{})
		living := c.Source().Container()
		inspected, err := cli.ContainerInspect(t.Context(), living, client.ContainerInspectOptions{})
		must(t, err)
		labels := inspected.Container.Config.Labels
		if _, found := find(living); found {
			t.Error("the container of a living owner is taken for a leftover")
		}
		labels["rowproof.owner.start"] = "1" // its process ID was given again
		id := create(labels)
		l, found := find(id)
		if _, err := cli.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); err == nil && !found {
			t.Fatal("the container of a dead owner is not named") // unless another process has swept it
		}
		if found {
			must(t, topology.RemoveLeftover(t.Context(), l))
		}
		if _, err := cli.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); err == nil {
			t.Error("the container of a dead owner is still there")
		}
	})
}
