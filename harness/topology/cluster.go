// Package topology runs the servers of a test: real MySQL in containers, the
// replication between them, and the links on which networks fail.
//
// Read Spec (what is wanted) and Start (how it comes about) first; Cluster
// and Server are what a scenario works with, Pool hands warm clusters out
// again. EnsureImage builds the image on first use. Every container depends
// on the process that made it: when that dies, however it dies, the container
// goes within seconds (container.go), and Sweep is the second belt.
package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// Cluster is a source and its replicas.
type Cluster struct {
	spec   Spec
	engine *engine
	links  map[string]*Link

	mu       sync.Mutex // Promote changes these
	source   *Server
	replicas []*Server
	fenced   []*Server // were the source once
}

// Start starts a cluster and waits until it is whole: every server answers,
// every replica replicates, semi-sync is attached. The image is built if it
// is missing, with progress on stderr.
func Start(ctx context.Context, spec Spec) (*Cluster, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &Cluster{spec: spec, engine: e, links: make(map[string]*Link)}
	image, err := e.ensureImage(ctx, mysqlRecipe(), os.Stderr)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.start(ctx, image); err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), c.Close())
	}
	return c, nil
}

// start boots the servers side by side, then joins them.
func (c *Cluster) start(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()

	servers := make([]*Server, 1+c.spec.Replicas)
	errs := make([]error, len(servers)+1)
	var wg sync.WaitGroup
	for n := range servers {
		wg.Go(func() { servers[n], errs[n] = c.boot(ctx, image, n) })
	}
	wg.Go(func() { errs[len(servers)] = c.engine.sweep(ctx) })
	wg.Wait()
	for n, s := range servers {
		switch {
		case s == nil:
		case n == 0:
			c.source = s
		default:
			c.replicas = append(c.replicas, s)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}

	joined := make([]error, len(c.replicas))
	for n, r := range c.replicas {
		dial, err := c.connect(ctx, r)
		if err != nil {
			joined[n] = err
			continue
		}
		wg.Go(func() { joined[n] = r.follow(ctx, c.source, dial, c.spec.GTID) })
	}
	wg.Wait()
	if err := errors.Join(joined...); err != nil {
		return err
	}
	if err := c.SemiSyncAttached(ctx); err != nil {
		return err
	}
	if err := c.startBinlog(ctx); err != nil {
		return err
	}
	return c.snapshot(ctx)
}

// boot starts the n-th server; 0 is the source. The server that it returns
// with an error is there to be closed.
func (c *Cluster) boot(ctx context.Context, image string, n int) (*Server, error) {
	b, err := c.engine.run(ctx, boxSpec{image: image, program: "mysqld", dataMegabytes: c.spec.dataMegabytes(), volume: c.spec.Disk, port: true})
	if err != nil {
		return nil, err
	}
	s := &Server{Name: "source", box: b, options: c.spec.options(n)}
	if n > 0 {
		s.Name = fmt.Sprintf("replica-%d", n)
	}
	return s, s.boot(ctx)
}

// connect opens the link of a replica and returns where the replica finds it.
func (c *Cluster) connect(ctx context.Context, r *Server) (dial string, err error) {
	host, listen, err := r.box.owner(ctx)
	if err != nil {
		return "", err
	}
	link, err := newLink(listen, c.source.Addr)
	if err != nil {
		return "", err
	}
	c.links[r.Name] = link
	c.source.inbound = append(c.source.inbound, link)
	_, port, err := net.SplitHostPort(link.Addr)
	return net.JoinHostPort(host, port), err
}

// Spec returns what the cluster was started from.
func (c *Cluster) Spec() Spec { return c.spec }

// Source returns the source.
func (c *Cluster) Source() *Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source
}

// Replicas returns the replicas in order of their names.
func (c *Cluster) Replicas() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.replicas
}

// Servers returns the source and then the replicas.
func (c *Cluster) Servers() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Server
	if c.source != nil {
		all = append(all, c.source)
	}
	return append(all, c.replicas...)
}

// Link returns the link from the replica of this name to the source, nil if
// there is no such replica.
func (c *Cluster) Link(replica string) *Link { return c.links[replica] }

// Close ends the servers at once, whatever they wait for, and the links.
func (c *Cluster) Close() error {
	servers := append(c.Servers(), c.fenced...)
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for n, s := range servers {
		wg.Go(func() { errs[n] = s.close() })
	}
	wg.Wait()
	for _, link := range c.links {
		errs = append(errs, link.Close())
	}
	errs = append(errs, c.engine.close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close cluster: %w", err)
	}
	return nil
}
