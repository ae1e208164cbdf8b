package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/client"
)

// Leftover is something on the engine that an earlier run left behind.
type Leftover struct {
	Kind string // "container" or "image"
	ID   string // a container's ID, an image's name with its tag
	Why  string // how it is known to be one
	// Kept says that nobody can tell from here whether it is still needed:
	// RemoveLeftover does not take it.
	Kept bool
}

// Leftovers finds the containers whose owner is gone and the images that
// other versions of the recipes made.
func Leftovers(ctx context.Context) ([]Leftover, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	containers, err := e.leftContainers(ctx)
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	images, err := e.leftImages(ctx)
	return append(containers, images...), errors.Join(err, e.close())
}

// RemoveLeftover removes one.
func RemoveLeftover(ctx context.Context, l Leftover) error {
	if l.Kept {
		return fmt.Errorf("remove %s %s: it may still be needed", l.Kind, l.ID)
	}
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	if l.Kind == "container" {
		return errors.Join(e.remove(ctx, l.ID), e.close())
	}
	// Without force: one that a container uses stays.
	if _, err = e.cli.ImageRemove(ctx, l.ID, client.ImageRemoveOptions{PruneChildren: true}); err != nil {
		err = fmt.Errorf("remove image %s: %s", l.ID, firstLine(err))
	}
	return errors.Join(err, e.close())
}

func (e *engine) leftContainers(ctx context.Context) ([]Leftover, error) {
	scope, err := ownerScope(ctx)
	if err != nil {
		return nil, err
	}
	found, err := e.cli.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", labelMark+"=container"),
	})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var left []Leftover
	for _, c := range found.Items {
		l := Leftover{Kind: "container", ID: c.ID}
		switch {
		case c.Labels[labelScope] != scope:
			l.Kept, l.Why = true, "its owner is on another machine, in another container, or from before a reboot"
		case alive(ctx, c.Labels[labelPID], c.Labels[labelStart]):
			continue
		default:
			l.Why = "its owner, process " + c.Labels[labelPID] + ", is gone"
		}
		left = append(left, l)
	}
	return left, nil
}

func (e *engine) leftImages(ctx context.Context) ([]Leftover, error) {
	var left []Leftover
	for _, r := range recipes() {
		current, err := (&builder{engine: e, recipe: r}).current(ctx)
		if err != nil {
			return nil, err
		}
		for _, repository := range []string{r.image(), r.base()} {
			found, err := e.cli.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("reference", repository)})
			if err != nil {
				return nil, fmt.Errorf("list images: %w", err)
			}
			for _, image := range found.Items {
				for _, name := range image.RepoTags {
					// The engine's filter is a pattern.
					if strings.HasPrefix(name, repository+":") && !current[name] {
						left = append(left, Leftover{Kind: "image", ID: name, Why: "another version of rowproof made it"})
					}
				}
			}
		}
	}
	return left, nil
}

// current returns the names that this version gives: with the base that it
// makes itself, and with the one that the user named.
func (b *builder) current(ctx context.Context) (map[string]bool, error) {
	own, err := b.debianBase()
	if err != nil {
		return nil, err
	}
	chosen, err := b.chooseBase()
	if err != nil {
		return nil, err
	}
	names := map[string]bool{own.image: true}
	for _, base := range []base{own, chosen} {
		name, err := b.name(ctx, base)
		if err != nil {
			return nil, err
		}
		names[name] = true
	}
	return names, nil
}
