package fault

import (
	"context"
	"errors"
	"slices"

	"rowproof/harness/history"
	"rowproof/harness/topology"
)

// Side is the source or all of its replicas.
type Side string

// The sides.
const (
	Source   Side = "source"
	Replicas Side = "replicas"
)

func (side Side) servers(s *Site) ([]*topology.Server, error) {
	if side == Source {
		return []*topology.Server{s.Cluster.Source()}, nil
	}
	if replicas := s.Cluster.Replicas(); len(replicas) > 0 {
		return replicas, nil
	}
	return nil, errors.New("the cluster has no replica")
}

// each does one thing to all servers of a side, and marks it.
func (side Side) each(ctx context.Context, s *Site, what string, do func(context.Context, *topology.Server) error) error {
	servers, err := side.servers(s)
	if err != nil {
		return err
	}
	return s.each(ctx, servers, what, do)
}

// each leaves out servers that a failover has taken out of the cluster.
func (s *Site) each(ctx context.Context, servers []*topology.Server, what string, do func(context.Context, *topology.Server) error) error {
	ctx, cancel := settle(ctx)
	defer cancel()
	for _, server := range servers {
		if !slices.Contains(s.Cluster.Servers(), server) {
			continue
		}
		if err := do(ctx, server); err != nil {
			return err
		}
		s.Recorder.Mark(history.Mark{Lane: server.Name, Name: history.MarkServer, Text: what, Data: map[string]string{"what": what}})
	}
	return nil
}

// during is an action that is begun on all servers of a side, and ended on
// the same ones.
func (side Side) during(name string, begin func(context.Context, *topology.Server) error, ending string, end func(context.Context, *topology.Server) error) Action {
	return lasting(name, func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		servers, err := side.servers(s)
		if err != nil {
			return nil, err
		}
		over := func(ctx context.Context) error { return s.each(ctx, servers, ending, end) }
		return over, s.each(ctx, servers, name, begin)
	})
}

// KillServer kills mysqld (SIGKILL), as a crash does. End starts it again,
// with these options beside its own for that start.
func KillServer(side Side, options ...string) Action {
	return side.down("kill the "+string(side), (*topology.Server).Kill, options)
}

// TerminateServer stops mysqld as its operator would (SIGTERM). End starts it
// again, with these options beside its own for that start. A source in which
// transactions wait for an ACK may not end by it.
func TerminateServer(side Side, options ...string) Action {
	return side.down("terminate the "+string(side), (*topology.Server).Terminate, options)
}

// down is a server that is not there until End.
func (side Side) down(name string, do func(*topology.Server, context.Context) error, options []string) Action {
	begin := func(ctx context.Context, server *topology.Server) error { return do(server, ctx) }
	return side.during(name, begin, "start the "+string(side)+" again", func(ctx context.Context, server *topology.Server) error {
		return server.StartAgain(ctx, options...)
	})
}

// RestartServer stops mysqld as its operator would and starts it again, with
// these options beside its own for that start.
func RestartServer(side Side, options ...string) Action {
	name := "restart the " + string(side)
	for _, o := range options {
		name += " " + o
	}
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		return side.each(ctx, s, name, func(ctx context.Context, server *topology.Server) error {
			return server.Restart(ctx, options...)
		})
	}}
}
