package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"

	"rowproof/harness/history"
	"rowproof/harness/step"
)

// Config is how a proxy is set up.
type Config struct {
	Upstream   string     // host:port of the server, or of the link before it
	Phrasebook Phrasebook // which commands are which steps

	// Recorder gets a mark for every step, hold and stream event, in this
	// Lane. Nil records nothing.
	Recorder *history.Recorder
	Lane     string // "" is "subject"
	// StreamTables are the tables, as schema.table, whose events in a binlog
	// stream are recorded. None: every table.
	StreamTables []string

	// Log gets every statement that is sent, one JSON object a line: time,
	// conn, kind, sql, step. Passwords are struck out. Nil logs nothing.
	Log io.Writer
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if _, _, err := net.SplitHostPort(c.Upstream); err != nil {
		return fmt.Errorf("wire config: Upstream: %w", err)
	}
	return nil
}

// Proxy stands between clients and one server.
type Proxy struct {
	config   Config
	listener net.Listener
	record   *recording
	wg       sync.WaitGroup // the accept loop and every connection

	mu       sync.Mutex
	closed   bool
	nextConn uint64
	conns    map[uint64]*conn
	gates    []*Gate // copied on write: connections walk it without the lock
	steps    map[step.Step]int
	errs     []error
}

// maxErrors bounds what Err joins.
const maxErrors = 16

// Listen opens a proxy on a free port of 127.0.0.1. It runs until Close, or
// until ctx ends.
func Listen(ctx context.Context, config Config) (*Proxy, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open proxy: %w", err)
	}
	p := &Proxy{
		config:   config,
		listener: listener,
		conns:    make(map[uint64]*conn),
		steps:    make(map[step.Step]int),
	}
	p.record = newRecording(config, p.fail)
	p.wg.Go(func() {
		stop := context.AfterFunc(ctx, p.shut)
		defer stop()
		p.accept(ctx)
	})
	return p, nil
}

// Addr returns the address that clients connect to, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends every connection, held or not, and waits for all goroutines.
func (p *Proxy) Close() error {
	p.shut()
	p.wg.Wait()
	return nil
}

// shut begins the end: nothing is accepted any more, everything is cut.
func (p *Proxy) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.listener.Close()
	for _, c := range p.conns {
		c.close()
	}
	for _, g := range p.gates {
		g.close()
	}
}

func (p *Proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			p.mu.Lock()
			closed := p.closed
			p.mu.Unlock()
			if !closed {
				p.fail(fmt.Errorf("accept connection: %w", err))
			}
			return
		}
		connCtx, cancel := context.WithCancel(ctx)
		c := p.add(client, cancel)
		if c == nil {
			cancel()
			client.Close()
			return
		}
		p.wg.Go(func() {
			defer p.drop(c)
			c.run(connCtx)
		})
	}
}

func (p *Proxy) add(client net.Conn, cancel context.CancelFunc) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.nextConn++
	c := newConn(p, p.nextConn, client, cancel)
	p.conns[c.id] = c
	return c
}

func (p *Proxy) drop(c *conn) {
	c.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c.id)
}

// fail keeps an error for Err.
func (p *Proxy) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, err)
	}
}

// Err returns what the proxy had to refuse or could not do so far, joined,
// or nil. A server that can't be reached is not an error of the proxy: its
// clients see their connection closed, as with any link.
func (p *Proxy) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

// Gate sets a gate for commands. It acts until it is released or removed.
func (p *Proxy) Gate(rule Rule) *Gate {
	rule.Name = rule.name()
	g := newGate(p, rule)
	p.addGate(g)
	return g
}

// EventGate sets a gate for the events of every binlog stream.
func (p *Proxy) EventGate(rule EventRule) *Gate {
	name := rule.Name
	if name == "" {
		name = rule.Action.String() + " binlog event"
	}
	g := newGate(p, Rule{Name: name, Occurrence: rule.Occurrence, Action: rule.Action})
	g.event = rule.Match
	if g.event == nil {
		g.event = func(Event) bool { return true }
	}
	p.addGate(g)
	return g
}

// Await waits until a command of a step is sent, or is answered, without
// holding it. It counts from the call: where the command may already be
// under way, set a Gate that observes beforehand.
func (p *Proxy) Await(ctx context.Context, s step.Step, phase Phase) (Hit, error) {
	g := p.Gate(Rule{Name: fmt.Sprintf("await %s %s", phase, s), Step: s, Phase: phase, Action: Observe})
	defer g.Remove()
	return g.Wait(ctx)
}

func (p *Proxy) addGate(g *Gate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates = append(slices.Clone(p.gates), g)
	if p.closed {
		g.close()
	}
}

func (p *Proxy) removeGate(g *Gate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gates = slices.DeleteFunc(slices.Clone(p.gates), func(o *Gate) bool { return o == g })
}

// commandGates returns the gates that match a command on one side of it, in
// the order in which they were set.
func (p *Proxy) commandGates(phase Phase, c Command) []*Gate {
	p.mu.Lock()
	gates := p.gates
	p.mu.Unlock()
	var matching []*Gate
	for _, g := range gates {
		if g.event == nil && g.rule.phase() == phase && g.rule.matches(c) {
			matching = append(matching, g)
		}
	}
	return matching
}

func (p *Proxy) eventGates(e Event) []*Gate {
	p.mu.Lock()
	gates := p.gates
	p.mu.Unlock()
	var matching []*Gate
	for _, g := range gates {
		if g.event != nil && g.event(e) {
			matching = append(matching, g)
		}
	}
	return matching
}

// countStep numbers the commands of a step.
func (p *Proxy) countStep(s step.Step) int {
	if s == "" {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps[s]++
	return p.steps[s]
}

// InFlight returns the commands that the server has been sent and has not
// answered, in order of their connections. A held command is not among them,
// nor is a binlog dump that streams.
func (p *Proxy) InFlight() []Command {
	var commands []Command
	for _, c := range p.open() {
		commands = append(commands, c.inFlight()...)
	}
	return commands
}

// open returns the connections in order of their numbers.
func (p *Proxy) open() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.conns), func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
}
