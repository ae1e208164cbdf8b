package topology

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// serverPort is mysqld's port inside a container with a network of its own.
const serverPort = "3306/tcp"

// box is a container in which one program is run: a server, or a tool. Its
// first process, serve in fixtures/images, is spoken to over stdin and
// stdout; it ends when this process does.
type box struct {
	engine *engine
	spec   boxSpec
	id     string
	attach client.ContainerAttachResult
	wg     sync.WaitGroup // the reader of stdout

	signalling sync.Mutex // one signal at a time

	mu      sync.Mutex
	state   boxState
	changed chan struct{} // closed when state changes
}

// boxState is what the first process has told.
type boxState struct {
	pid     int    // of the program started last, inside the container
	starts  int    // how many were started
	exits   int    // how many have ended
	status  string // exit status of the one that ended last
	used    string // by the one that ended last, as a tool's serve tells it
	logs    int    // how many of a tool's logs are complete
	signals int    // how many were sent to the program
	gone    bool   // the container itself ended
}

// running reports whether the program runs.
func (s boxState) running() bool { return s.starts > s.exits && !s.gone }

// boxSpec is what differs between containers.
type boxSpec struct {
	image         string
	program       string    // what is run in it, for errors
	dataMegabytes int       // of /rowproof, which lies in memory; 0: there is none
	volume        bool      // /rowproof is a volume, which is removed with the container
	port          bool      // of its own, in bridge mode
	stderr        io.Writer // gets what the program writes; nil: only the engine's log does
}

// run starts a container without the program.
func (e *engine) run(ctx context.Context, spec boxSpec) (*box, error) {
	labels, err := ownerLabels(ctx)
	if err != nil {
		return nil, err
	}
	b := &box{engine: e, spec: spec, changed: make(chan struct{})}
	request := testcontainers.ContainerRequest{
		Image:  spec.image,
		Labels: maps.Clone(labels),
		ConfigModifier: func(c *container.Config) {
			c.OpenStdin, c.StdinOnce = true, true
			c.AttachStdin, c.AttachStdout = true, true
		},
		HostConfigModifier: func(c *container.HostConfig) {
			c.AutoRemove = true
			if !e.bridge {
				c.NetworkMode = "host"
				return
			}
			if spec.port {
				c.PortBindings = network.PortMap{
					network.MustParsePort(serverPort): {{HostIP: netip.MustParseAddr("127.0.0.1")}},
				}
			}
		},
		// Between create and start: from its first moment the container
		// depends on our end of its stdin.
		LifecycleHooks: []testcontainers.ContainerLifecycleHooks{{
			PostCreates: []testcontainers.ContainerHook{func(ctx context.Context, c testcontainers.Container) error {
				b.id = c.GetContainerID()
				return b.hold(ctx)
			}},
		}},
	}
	if spec.volume {
		request.Mounts = testcontainers.Mounts(testcontainers.ContainerMount{
			Source: testcontainers.DockerVolumeMountSource{}, Target: "/rowproof",
		})
	}
	if spec.dataMegabytes > 0 {
		request.Tmpfs = map[string]string{"/rowproof": fmt.Sprintf("rw,size=%dm,mode=0755", spec.dataMegabytes)}
	}
	if e.bridge && spec.port {
		request.ExposedPorts = []string{serverPort}
	}
	created, err := e.provider.CreateContainer(ctx, request)
	if err == nil {
		err = created.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start container: %w", err), b.discard())
	}
	return b, nil
}

// hold attaches to the container's stdin and stdout, and to its stderr if
// somebody wants it.
func (b *box) hold(ctx context.Context) error {
	attach, err := b.engine.cli.ContainerAttach(ctx, b.id, client.ContainerAttachOptions{
		Stream: true, Stdin: true, Stdout: true, Stderr: b.spec.stderr != nil,
	})
	if err != nil {
		return fmt.Errorf("attach to container: %w", err)
	}
	b.attach = attach
	var stderr io.Writer = io.Discard
	if b.spec.stderr != nil {
		stderr = &toolLog{to: b.spec.stderr, ended: func() { b.update(func(s *boxState) { s.logs++ }) }}
	}
	out, in := io.Pipe()
	b.wg.Go(func() {
		_, err := stdcopy.StdCopy(in, stderr, attach.Reader)
		in.CloseWithError(err)
	})
	b.wg.Go(func() { b.listen(out) })
	return nil
}

// listen reads what the first process tells until its stdout ends.
func (b *box) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		b.update(func(s *boxState) {
			switch word {
			case "started":
				s.starts++
				s.used = ""
				s.pid, _ = strconv.Atoi(rest) // our own script writes a number
			case "signalled":
				s.signals++
			case "used":
				s.used = rest
			case "exited":
				s.exits++
				s.status = rest
			}
		})
	}
	b.update(func(s *boxState) { s.gone = true })
}

func (b *box) update(change func(*boxState)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.state)
	close(b.changed)
	b.changed = make(chan struct{})
}

// current returns the state and a channel that closes when it changes.
func (b *box) current() (boxState, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.changed
}

// wait waits until done likes the state.
func (b *box) wait(ctx context.Context, done func(boxState) bool) (boxState, error) {
	for {
		state, changed := b.current()
		if done(state) {
			return state, nil
		}
		if state.gone {
			return state, errors.New("the container is gone")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return state, ctx.Err()
		}
	}
}

// start starts the program and waits until it has a process ID.
func (b *box) start(ctx context.Context, options []string, environment ...string) error {
	before, _ := b.current()
	if before.running() {
		return fmt.Errorf("start %s: it runs already", b.spec.program)
	}
	var commands strings.Builder
	for _, o := range options {
		fmt.Fprintf(&commands, "option %s\n", o)
	}
	for _, e := range environment {
		fmt.Fprintf(&commands, "environment %s\n", e)
	}
	commands.WriteString("start\n")
	if err := b.send(commands.String()); err != nil {
		return fmt.Errorf("start %s: %w", b.spec.program, err)
	}
	if _, err := b.wait(ctx, func(s boxState) bool { return s.starts > before.starts }); err != nil {
		return fmt.Errorf("start %s: %w", b.spec.program, err)
	}
	return nil
}

// signal sends a signal to the program, and returns once it has it.
func (b *box) signal(name string) error {
	b.signalling.Lock()
	defer b.signalling.Unlock()
	before, _ := b.current()
	if !before.running() {
		return errors.New("it does not run")
	}
	if err := b.send(fmt.Sprintf("signal %s %d\n", name, before.pid)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, err := b.wait(ctx, func(s boxState) bool { return s.signals > before.signals })
	return err
}

// ended waits until the program has ended.
func (b *box) ended(ctx context.Context) error {
	_, err := b.wait(ctx, func(s boxState) bool { return !s.running() })
	return err
}

func (b *box) send(commands string) error {
	_, err := io.WriteString(b.attach.Conn, commands)
	return err
}

// published returns the address under which this process reaches the
// container's port in bridge mode.
func (b *box) published(ctx context.Context) (string, error) {
	found, err := b.engine.cli.ContainerInspect(ctx, b.id, client.ContainerInspectOptions{})
	if err != nil {
		return "", fmt.Errorf("inspect container: %w", err)
	}
	if settings := found.Container.NetworkSettings; settings != nil {
		for _, p := range settings.Ports[network.MustParsePort(serverPort)] {
			return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), mustPort(p.HostPort)).String(), nil
		}
	}
	return "", errors.New("inspect container: its port is not published")
}

// owner returns the address under which the container reaches this process,
// and the one on which this process has to listen for that.
func (b *box) owner(ctx context.Context) (dial, listen string, err error) {
	switch {
	case !b.engine.bridge:
		return "127.0.0.1", "127.0.0.1", nil
	case b.engine.desktop: // it forwards this name to the host's loopback
		return "host.docker.internal", "127.0.0.1", nil
	}
	found, err := b.engine.cli.ContainerInspect(ctx, b.id, client.ContainerInspectOptions{})
	if err != nil {
		return "", "", fmt.Errorf("inspect container: %w", err)
	}
	if settings := found.Container.NetworkSettings; settings != nil {
		for _, n := range settings.Networks {
			if n.Gateway.IsValid() {
				return n.Gateway.String(), n.Gateway.String(), nil
			}
		}
	}
	return "", "", errors.New("inspect container: its network has no gateway")
}

// log returns the last lines that the program wrote to its log.
func (b *box) log(ctx context.Context, lines int) (string, error) {
	logs, err := b.engine.cli.ContainerLogs(ctx, b.id, client.ContainerLogsOptions{ShowStderr: true, Tail: strconv.Itoa(lines)})
	if err != nil {
		return "", fmt.Errorf("read server log: %w", err)
	}
	defer logs.Close()
	var text strings.Builder
	if _, err := stdcopy.StdCopy(io.Discard, &text, logs); err != nil {
		return "", fmt.Errorf("read server log: %w", err)
	}
	return text.String(), nil
}

// cpu returns the processor time that the container has used so far.
func (b *box) cpu(ctx context.Context) (time.Duration, error) {
	sample, err := b.engine.cli.ContainerStats(ctx, b.id, client.ContainerStatsOptions{})
	if err != nil {
		return 0, fmt.Errorf("read container statistics: %w", err)
	}
	defer sample.Body.Close()
	var stats container.StatsResponse
	if err := json.NewDecoder(sample.Body).Decode(&stats); err != nil {
		return 0, fmt.Errorf("read container statistics: %w", err)
	}
	return time.Duration(stats.CPUStats.CPUUsage.TotalUsage), nil
}

// discard kills the container with all that runs in it, whatever state it is
// in, and waits until it is gone. A server that waits for an ACK would not
// end by being asked.
func (b *box) discard() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var err error
	if b.id != "" {
		err = b.engine.remove(ctx, b.id)
	}
	if b.attach.Conn != nil {
		b.attach.Close()
	}
	b.wg.Wait()
	return err
}
