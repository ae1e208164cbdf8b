package topology

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// EngineState is what the Docker engine tells of itself.
type EngineState struct {
	Version  string
	Address  string // such as unix:///var/run/docker.sock
	Local    bool   // it runs on this machine, not in a virtual or another one
	Rootless bool
	Root     string // directory of its images, on its machine
	Memory   uint64 // of its machine, in bytes
	Bridge   bool   // servers have published ports, not the host's network
}

// ExamineEngine asks the engine about itself. The error wraps ErrNoEngine if
// there is none.
func ExamineEngine(ctx context.Context) (EngineState, error) {
	e, err := connect(ctx)
	if err != nil {
		return EngineState{}, err
	}
	state, err := e.examine(ctx)
	return state, errors.Join(err, e.close())
}

func (e *engine) examine(ctx context.Context) (EngineState, error) {
	found, err := e.cli.Info(ctx, client.InfoOptions{})
	if err != nil {
		return EngineState{}, err
	}
	info := found.Info
	name, err := os.Hostname()
	if err != nil {
		return EngineState{}, err
	}
	return EngineState{
		Version:  info.ServerVersion,
		Address:  e.cli.DaemonHost(),
		Local:    strings.HasPrefix(e.cli.DaemonHost(), "unix://") && !e.desktop && info.Name == name,
		Rootless: slices.ContainsFunc(info.SecurityOptions, func(o string) bool { return strings.Contains(o, "name=rootless") }),
		Root:     info.DockerRootDir,
		Memory:   uint64(max(info.MemTotal, 0)),
		Bridge:   e.bridge,
	}, nil
}

// ImageState is what is there of an image before it is needed.
type ImageState struct {
	Name   string // with its tag
	For    string // what runs in it
	Built  bool
	Base   string // what it is made from
	Based  bool   // the engine has the base
	Chosen string // the environment variable with which the user chose the base; "": nobody did
}

// ExamineImages tells which of our images are there.
func ExamineImages(ctx context.Context) ([]ImageState, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	var states []ImageState
	for _, r := range recipes() {
		state, err := e.examineImage(ctx, r)
		if err != nil {
			return nil, errors.Join(err, e.close())
		}
		states = append(states, state)
	}
	return states, e.close()
}

func (e *engine) examineImage(ctx context.Context, r recipe) (ImageState, error) {
	b := &builder{engine: e, recipe: r}
	base, err := b.chooseBase()
	if err != nil {
		return ImageState{}, err
	}
	name, built, err := b.find(ctx, base)
	if err != nil {
		return ImageState{}, err
	}
	id, err := b.imageID(ctx, base.image)
	if err != nil {
		return ImageState{}, err
	}
	state := ImageState{Name: name, For: r.runs, Built: built, Base: base.image, Based: id != ""}
	if base.named {
		state.Chosen = r.variable
	}
	return state, nil
}
