package topology_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"rowproof/harness/topology"
)

func TestEnsureImage(t *testing.T) {
	own, err := topology.EnsureImage(t.Context(), t.Output())
	must(t, err)

	t.Run("OKAtOnce", func(t *testing.T) {
		var progress strings.Builder
		began := time.Now()
		again, err := topology.EnsureImage(t.Context(), &progress)
		must(t, err)
		if again != own || progress.Len() > 0 {
			t.Errorf("got %s and %q, want %s and no progress", again, progress.String(), own)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("took %s, want it at once", took)
		}
	})
	t.Run("OKNamed", func(t *testing.T) {
		t.Setenv(topology.ImageVariable, own) // as good a MySQL image as any
		cli := engine(t)
		type result struct {
			image string
			err   error
		}
		// Two at once: one builds, the other waits for it.
		results := make(chan result)
		var progress [2]strings.Builder
		for n := range progress {
			go func() {
				image, err := topology.EnsureImage(t.Context(), &progress[n])
				results <- result{image, err}
			}()
		}
		first, second := <-results, <-results
		must(t, errors.Join(first.err, second.err))
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			if _, err := cli.ImageRemove(ctx, first.image, client.ImageRemoveOptions{PruneChildren: true}); err != nil {
				t.Error(err)
			}
		})
		if first.image != second.image || first.image == own {
			t.Errorf("got %s and %s, want the same image and not %s", first.image, second.image, own)
		}
		if got := progress[0].String() + progress[1].String(); strings.Count(got, "building") != 1 {
			t.Errorf("progress is\n%swant one build", got)
		}
		source := start(t, topology.Spec{}).Source()
		must(t, source.Ping(t.Context()))
	})
	t.Run("ErrWrongName", func(t *testing.T) {
		for _, name := range []string{"rowproof/no-such-image:1", "Not A Name"} {
			t.Setenv(topology.ImageVariable, name)
			_, err := topology.Start(t.Context(), topology.Spec{})
			oneLine(t, err, topology.ImageVariable, name)
		}
	})
}

func TestNoEngine(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	must(t, err)
	defer silent.Close()
	for name, host := range map[string]string{
		"ErrNoSocket":  "unix:///no/such/socket",
		"ErrNobody":    "tcp://127.0.0.1:1",
		"ErrSilence":   "tcp://" + silent.Addr().String(),
		"ErrMalformed": "nonsense",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", host)
			began := time.Now()
			_, err := topology.Start(t.Context(), topology.Spec{})
			if !errors.Is(err, topology.ErrNoEngine) {
				t.Errorf("got %v, want ErrNoEngine", err)
			}
			oneLine(t, err, host)
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %s, want it at once", took)
			}
		})
	}
}

func TestNetwork(t *testing.T) {
	t.Run("OKBridge", func(t *testing.T) {
		t.Setenv(topology.NetworkVariable, "bridge")
		c := start(t, topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
		execute(t, c.Source().DB, "CREATE DATABASE rowproof")
		must(t, c.WaitReplicated(within(t, patience)))
		must(t, c.Replicas()[0].Restart(within(t, patience)))
		must(t, c.SemiSyncAttached(within(t, patience)))
	})
	t.Run("ErrMode", func(t *testing.T) {
		t.Setenv(topology.NetworkVariable, "carrier-pigeon")
		_, err := topology.Start(t.Context(), topology.Spec{})
		oneLine(t, err, topology.NetworkVariable, "carrier-pigeon")
	})
}

// oneLine wants an error of one line that holds all parts.
func oneLine(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("got nil, want an error")
	}
	text := err.Error()
	if strings.Contains(text, "\n") {
		t.Errorf("the error has several lines:\n%s", text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the error is %q, want %q in it", text, part)
		}
	}
	t.Log(text)
}
