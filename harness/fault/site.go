package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Site is where a plan acts.
type Site struct {
	Cluster  *topology.Cluster
	Proxy    *wire.Proxy // the subject's connections
	Links    Links
	App      *sql.DB // the application's, with the table's schema as default
	Table    fixtures.Table
	Schema   string
	Recorder *history.Recorder
	Names    Names            // of the subject's tables
	Start    observe.Position // where the source's binlog ended before the run

	// StartSecond starts the subject once more beside itself, on the same
	// table. It goes on after ctx has ended.
	StartSecond func(ctx context.Context) (Subject, error)

	watchers sync.WaitGroup

	mu      sync.Mutex
	subject Subject // nil before it starts
	clients []*workload.Client
	pending []*workload.Pending
	effects []effect
	fired   map[string]chan struct{} // by name: closed once an action has fired
	unacked []unacked                // writes, in the order of the binlog
	replica *wire.Replica            // that gives ACKs when told

	waitersRead time.Time // when waitsForRow last read who waits
}

// Links are the network paths to the source. Those of replicas belong to the
// cluster.
type Links struct {
	Subject *topology.Link // behind the proxy
	App     *topology.Link
}

// Subject is the tool as something that runs.
type Subject interface {
	Signal(syscall.Signal) error
	Done() <-chan struct{} // closed once it has ended
}

// Started tells the site what runs as the subject now.
func (s *Site) Started(subject Subject) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subject = subject
}

func (s *Site) running() (Subject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subject == nil {
		return nil, fmt.Errorf("the subject has not started yet")
	}
	return s.subject, nil
}

// client returns a new client of the application; Finish closes it.
func (s *Site) client() *workload.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := workload.NewClient("fault", s.App, s.Recorder)
	s.clients = append(s.clients, c)
	return c
}

func (s *Site) leave(p *workload.Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, p)
}

// watch runs f beside everything else. It outlives the fault that starts it,
// and Finish waits for it.
func (s *Site) watch(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchLimit)
	s.watchers.Go(func() {
		defer cancel()
		f(ctx)
	})
}

// watchLimit is the longest that Finish can have to wait for a watcher.
const watchLimit = 30 * time.Second

// Finish ends what still goes on, waits for the operations that faults have
// left under way, and closes the clients.
func (s *Site) Finish(ctx context.Context) error {
	defer s.watchers.Wait()
	// What goes on may be what the operations wait for.
	errs := []error{s.endAll(ctx)}
	s.mu.Lock()
	pending, clients := s.pending, s.clients
	s.pending, s.clients = nil, nil
	s.mu.Unlock()
	for _, p := range pending {
		if err := p.Wait(ctx); err != nil && ctx.Err() != nil {
			errs = append(errs, err) // its own failure is in the record
		}
	}
	if ctx.Err() == nil {
		for _, c := range clients {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
