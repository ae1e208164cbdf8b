package topology

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/rs/zerolog"
)

// Link is a TCP connection path to a server that can be made slow, broken or
// silent. The faults are toxiproxy's toxics, run in this process.
//
// The link accepts and dials by itself and leaves the bytes in between to
// toxiproxy: toxiproxy's own proxy neither waits for its goroutines nor ends
// all of them when one side goes away while the other still sends.
type Link struct {
	Addr string // where clients connect

	listener net.Listener
	server   *toxiproxy.ApiServer // never listens: toxiproxy asks it for metrics
	toxics   *toxiproxy.ToxicCollection
	dial     context.CancelFunc // ends dialling
	wg       sync.WaitGroup     // the accept loop, and two directions for each pair

	mu       sync.Mutex
	upstream string // where the link connects to
	down     bool
	closed   bool
	limit    int64 // bytes of a direction; 0: none
	serial   int
	pairs    map[*pair]bool
}

// Toxic is one fault on a link; the types and their attributes are
// toxiproxy's: latency, bandwidth, slow_close, slicer, and timeout with 0. For
// its reset_peer use Link.Reset, for its limit_data Link.Limit. A timeout above
// 0 would end a direction while bytes still come, as limit_data does: then
// toxiproxy leaves a goroutine behind.
type Toxic struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Stream     string         `json:"stream"` // "upstream": to the server; "downstream": to the client
	Attributes map[string]any `json:"attributes"`
}

// NewLink opens a link from a free port on loopback to upstream (host:port).
func NewLink(upstream string) (*Link, error) {
	return newLink("127.0.0.1", upstream)
}

func newLink(host, upstream string) (*Link, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("open link to %s: %w", upstream, err)
	}
	// Its bandwidth toxic writes to the library's own log, on stderr.
	zerolog.SetGlobalLevel(zerolog.Disabled)
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "link", listener.Addr().String(), upstream)
	ctx, cancel := context.WithCancel(context.Background())
	l := &Link{
		Addr:     listener.Addr().String(),
		upstream: upstream,
		listener: listener,
		server:   server,
		toxics:   proxy.Toxics,
		dial:     cancel,
		pairs:    make(map[*pair]bool),
	}
	l.wg.Go(func() { l.accept(ctx) })
	return l, nil
}

// Add puts a toxic on all connections, present and future.
func (l *Link) Add(t Toxic) error {
	switch t.Type {
	case "reset_peer":
		return fmt.Errorf("add toxic %s: reset_peer is not for links, use Reset", t.Name)
	case "limit_data":
		return fmt.Errorf("add toxic %s: limit_data is not for links, use Limit", t.Name)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("add toxic %s: %w", t.Name, err)
	}
	if _, err := l.toxics.AddToxicJson(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("add toxic %s: %w", t.Name, err)
	}
	return nil
}

// Remove takes a toxic off again. Taking off a timeout breaks the
// connections that it silenced, since bytes are missing on them.
func (l *Link) Remove(ctx context.Context, name string) error {
	if err := l.toxics.RemoveToxic(ctx, name); err != nil {
		return fmt.Errorf("remove toxic %s: %w", name, err)
	}
	return nil
}

// Names of the toxics of Partition.
const (
	partitionUp   = "partition-upstream"
	partitionDown = "partition-downstream"
)

// Partition makes the link silent: connections stay open, new ones are
// accepted, and no byte passes in either direction.
func (l *Link) Partition() error {
	silence := map[string]any{"timeout": 0}
	if err := l.Add(Toxic{partitionUp, "timeout", "upstream", silence}); err != nil {
		return err
	}
	return l.Add(Toxic{partitionDown, "timeout", "downstream", silence})
}

// Heal ends a partition. The connections that lived through it are broken.
func (l *Link) Heal(ctx context.Context) error {
	l.Reset()
	if err := l.Remove(ctx, partitionUp); err != nil {
		return err
	}
	return l.Remove(ctx, partitionDown)
}

// Down breaks all connections and refuses new ones.
func (l *Link) Down() {
	l.setDown(true)
	l.Reset()
}

// Up ends Down.
func (l *Link) Up() { l.setDown(false) }

func (l *Link) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// Limit breaks each connection once it has carried so many bytes in one
// direction since it was opened. 0 ends that.
func (l *Link) Limit(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = bytes
}

// Reset breaks all connections (both sides see a reset).
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.pairs {
		p.reset()
	}
}

// Redirect leads the link to another upstream (host:port). It breaks all
// connections, so that none still leads to the old one.
func (l *Link) Redirect(upstream string) {
	l.mu.Lock()
	l.upstream = upstream
	l.mu.Unlock()
	l.Reset()
}

func (l *Link) target() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.upstream
}

// Clear takes every toxic off and ends Down and Limit. Where there was a toxic, it
// breaks the connections.
func (l *Link) Clear(ctx context.Context) {
	l.Up()
	l.Limit(0)
	if len(l.toxics.GetToxicArray()) > 0 {
		l.Reset()
		l.toxics.ResetToxics(ctx)
	}
}

// Close breaks all connections and waits until nothing of the link runs.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	err := l.listener.Close()
	l.dial()
	l.Reset()
	// Only now: a toxic can be interrupted only while its output is read, and
	// a broken pair reads and discards.
	l.toxics.ResetToxics(context.Background())
	l.wg.Wait()
	return err
}

// accept runs until the listener closes.
func (l *Link) accept(ctx context.Context) {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.wg.Go(func() { l.join(ctx, client.(*net.TCPConn)) })
	}
}

// join connects client to the upstream and hands both to toxiproxy.
func (l *Link) join(ctx context.Context, client *net.TCPConn) {
	var dialer net.Dialer
	addr := l.target()
	upstream, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		client.Close() // what a client sees when the server is not there
		return
	}
	p := &pair{client: client, upstream: upstream.(*net.TCPConn), directions: 2}

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down || l.closed || l.upstream != addr {
		p.reset()
		return
	}
	l.serial++
	l.pairs[p] = true
	l.wg.Add(2)
	name := fmt.Sprint(l.serial)
	l.toxics.StartLink(l.server, name+"upstream", p.client, l.side(p, p.upstream), stream.Upstream)
	l.toxics.StartLink(l.server, name+"downstream", p.upstream, l.side(p, p.client), stream.Downstream)
}

// pair is one client's connection and the link's own one to the server.
type pair struct {
	client, upstream *net.TCPConn
	directions       int // that still run
}

// reset breaks both connections at once.
func (p *pair) reset() {
	for _, conn := range []*net.TCPConn{p.client, p.upstream} {
		_ = conn.SetLinger(0) // a closed connection is as good
		_ = conn.Close()
	}
}

// side is where one direction of a pair is written to.
type side struct {
	conn   io.WriteCloser
	pair   *pair
	passed int64 // bytes
	broken bool
	room   func(passed int64, more int) int // how many more bytes may pass
	done   func()
}

func (l *Link) side(p *pair, conn *net.TCPConn) *side {
	return &side{conn: conn, pair: p, room: l.room, done: func() {
		l.mu.Lock()
		if p.directions--; p.directions == 0 {
			delete(l.pairs, p)
		}
		l.mu.Unlock()
		l.wg.Done()
	}}
}

func (l *Link) room(passed int64, more int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit == 0 {
		return more
	}
	return int(min(max(l.limit-passed, 0), int64(more)))
}

// Write never fails: once the connection is broken it discards, so that the
// toxics before it can run dry and end.
func (s *side) Write(b []byte) (int, error) {
	if s.broken {
		return len(b), nil
	}
	n := s.room(s.passed, len(b))
	s.passed += int64(n)
	if _, err := s.conn.Write(b[:n]); err != nil || n < len(b) {
		s.broken = true
		s.pair.reset()
	}
	return len(b), nil
}

// Close is the last thing that toxiproxy does with a direction.
func (s *side) Close() error {
	err := s.conn.Close()
	s.done()
	return err
}
