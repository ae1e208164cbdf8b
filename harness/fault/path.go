package fault

import (
	"context"
	"fmt"

	"rowproof/harness/topology"
)

// Path is a network path to the source.
type Path struct {
	name string
	link func(*Site) *topology.Link
}

// SubjectPath is the subject's path: all its connections.
func SubjectPath() Path {
	return Path{"the subject's link", func(s *Site) *topology.Link { return s.Links.Subject }}
}

// AppPath is the application's path.
func AppPath() Path {
	return Path{"the application's link", func(s *Site) *topology.Link { return s.Links.App }}
}

// ReplicaPath is the path of the replica of this name: "replica-1".
func ReplicaPath(name string) Path {
	return Path{name + "'s link", func(s *Site) *topology.Link { return s.Cluster.Link(name) }}
}

func (p Path) open(s *Site) (*topology.Link, error) {
	if link := p.link(s); link != nil {
		return link, nil
	}
	return nil, fmt.Errorf("%s: the cluster has no such replica", p.name)
}

// toxic puts one of toxiproxy's toxics on both directions of a path, for all
// connections, present and future. It is in force when the action returns.
func (p Path) toxic(name, kind string, attributes map[string]any) Action {
	return lasting(name+" on "+p.name, func(_ context.Context, s *Site) (func(context.Context) error, error) {
		link, err := p.open(s)
		if err != nil {
			return nil, err
		}
		streams := []string{"upstream", "downstream"}
		for _, stream := range streams {
			if err := link.Add(topology.Toxic{Name: kind + "-" + stream, Type: kind, Stream: stream, Attributes: attributes}); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context) error {
			for _, stream := range streams {
				if err := link.Remove(ctx, kind+"-"+stream); err != nil {
					return err
				}
			}
			return nil
		}, nil
	})
}
