package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"rowproof/harness/history"
	"rowproof/harness/topology"
)

// shelf holds the run whose cluster is left up for a look: the first that
// was not as its scenario demands, or else the last.
type shelf struct {
	mu       sync.Mutex
	run      *run
	expected bool
}

// put takes a run and returns the one whose cluster nobody will look at; nil
// if there is none.
func (s *shelf) put(r *run, expected bool) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil && !s.expected {
		return r
	}
	other := s.run
	s.run, s.expected = r, expected
	return other
}

// keep puts the run on the shelf, if there is one, and gives back the cluster
// of another.
func (r *run) keep(ctx context.Context, expected bool) error {
	if r.suite.shelf == nil || r.cluster == nil {
		return nil
	}
	other := r.suite.shelf.put(r, expected)
	if other == nil {
		return nil
	}
	return other.giveBack(ctx)
}

// showKept tells about the cluster on the shelf and leaves it up until an
// interrupt. The servers go with this process, so it stays. Failed says that
// a test has failed.
func (s *Suite) showKept(ctx context.Context, failed bool) (err error) {
	if s.shelf == nil || s.shelf.run == nil {
		return nil
	}
	r := s.shelf.run
	defer func() { err = errors.Join(err, r.cluster.Close()) }()
	if err := s.pool.Close(); err != nil { // nobody needs the others
		return err
	}
	kept := history.Kept{Schema: topology.Database}
	if kept.Logins, err = os.MkdirTemp("", "rowproof-kept-"); err != nil {
		return fmt.Errorf("make login files: %w", err)
	}
	defer os.RemoveAll(kept.Logins)
	for _, account := range []topology.Account{topology.Root(), topology.App(), account(r.under)} {
		kept.Users = append(kept.Users, account.User)
		if err := writeLogin(kept.Logins, account); err != nil {
			return err
		}
	}
	for _, server := range r.cluster.Servers() {
		kept.Servers = append(kept.Servers, history.KeptServer{
			Name: server.Name, Addr: server.Addr, Version: server.Version,
			Container: server.Container(), Socket: topology.Socket,
		})
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	event := history.Event{Kind: history.EventKept, Kept: &kept}
	if failed {
		event.Error = "a test has failed"
	}
	r.send(event)
	<-ctx.Done()
	return nil
}

// writeLogin writes the files with which a user logs in, so that no password
// stands in a command line.
func writeLogin(dir string, a topology.Account) error {
	for name, text := range map[string]string{
		a.User + ".cnf": "[client]\nuser=" + a.User + "\npassword=" + a.Password + "\n",
		a.User + ".env": "MYSQL_PWD=" + a.Password + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("make login files: %w", err)
		}
	}
	return nil
}
