package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// ErrNoEngine means that there is no Docker engine to work with.
var ErrNoEngine = errors.New("no Docker engine")

// engineTimeout bounds the first contact with the engine.
const engineTimeout = 2 * time.Second

// NetworkVariable names the environment variable that overrides how servers
// are reached: "host" or "bridge".
const NetworkVariable = "ROWPROOF_DOCKER_NETWORK"

// engine is the Docker engine, and how the servers on it are reached.
type engine struct {
	provider *testcontainers.DockerProvider
	cli      client.APIClient
	bridge   bool // servers have ports published on loopback, not the host's network
	desktop  bool // the engine runs in a virtual machine
}

// configure sets up testcontainers, whose configuration is the process's.
// Its reaper needs an image from a registry, and our containers end with
// their owner without it. In a container it would take the default gateway
// for the servers' host; they are on loopback.
var configure = sync.OnceFunc(func() {
	for name, value := range map[string]string{
		"TESTCONTAINERS_RYUK_DISABLED": "true",
		"TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
	} {
		_ = os.Setenv(name, value) // fails only for a malformed name
	}
	log.SetDefault(log.NewNoopLogger())
})

// connect finds the engine. It fails with ErrNoEngine in seconds at most.
func connect(ctx context.Context) (*engine, error) {
	configure()
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		if err := probe(ctx, host); err != nil {
			return nil, fmt.Errorf("%w: DOCKER_HOST is %s: %s", ErrNoEngine, host, firstLine(err))
		}
	}
	provider, err := newProvider(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: is Docker installed and running? %s", ErrNoEngine, firstLine(err))
	}
	e := &engine{provider: provider, cli: provider.Client()}
	info, err := e.cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrNoEngine, firstLine(err)), e.close())
	}
	e.desktop = info.Info.OperatingSystem == "Docker Desktop"
	if err := e.chooseNetwork(); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// close ends the idle connections to the engine.
func (e *engine) close() error { return e.provider.Close() }

// probe asks the engine at host whether it is there.
func probe(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	cli, err := client.New(client.FromEnv, client.WithHost(host))
	if err != nil {
		return err
	}
	defer cli.Close()
	_, err = cli.Ping(ctx, client.PingOptions{})
	return err
}

// newProvider lets testcontainers find the engine. That takes no context and
// may dial an address that never answers, so it gets a goroutine, which is
// left behind only when the process has no engine to go on with anyway.
func newProvider(ctx context.Context) (*testcontainers.DockerProvider, error) {
	type result struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	found := make(chan result, 1)
	go func() {
		provider, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
		found <- result{provider, err}
	}()
	timer := time.NewTimer(engineTimeout)
	defer timer.Stop()
	select {
	case r := <-found:
		return r.provider, r.err
	case <-timer.C:
		return nil, fmt.Errorf("no answer within %s", engineTimeout)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// chooseNetwork picks the host's network on a Linux engine, and published
// ports where the engine runs in a virtual machine of its own.
func (e *engine) chooseNetwork() error {
	switch mode := os.Getenv(NetworkVariable); mode {
	case "":
		e.bridge = e.desktop
	case "host":
		e.bridge = false
	case "bridge":
		e.bridge = true
	default:
		return fmt.Errorf("%s is %q, want host or bridge", NetworkVariable, mode)
	}
	return nil
}

// firstLine keeps an error readable in one line.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
