package topology

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"rowproof/fixtures/images"
)

// recipe is what an image is made from.
type recipe struct {
	name     string   // "mysql": in progress and errors
	runs     string   // what runs in it
	inputs   fs.FS    // Dockerfile, base.Dockerfile, packages and the files
	files    []string // that Dockerfile copies
	variable string   // names the environment variable with another base; "": there is none
}

// ptOscRecipe makes the image with pt-online-schema-change.
func ptOscRecipe() recipe {
	return recipe{name: "ptosc", runs: "pt-online-schema-change", inputs: images.PtOsc(), files: []string{"serve"}}
}

// image is the repository of the image.
func (r recipe) image() string { return "rowproof/" + r.name }

// base is the repository of what it is made from, unless the user names that.
func (r recipe) base() string { return "rowproof/debian-" + r.name }

// mysqlRecipe makes the server image.
func mysqlRecipe() recipe {
	return recipe{name: "mysql", runs: "the servers", inputs: images.MySQL(), files: []string{"init.sql", "my.cnf", "serve"}, variable: ImageVariable}
}

func recipes() []recipe { return []recipe{mysqlRecipe(), ptOscRecipe()} }

// EnsureImage returns the name of the server image and builds it first if it
// is missing, with a line of progress for each step. Its tag is a hash of all
// that goes into it. Several processes may call it at once: one builds, the
// others wait.
func EnsureImage(ctx context.Context, progress io.Writer) (string, error) {
	return ensure(ctx, mysqlRecipe(), progress)
}

// EnsureToolImage does the same for the image of OpenToolbox.
func EnsureToolImage(ctx context.Context, progress io.Writer) (string, error) {
	return ensure(ctx, ptOscRecipe(), progress)
}

func ensure(ctx context.Context, r recipe, progress io.Writer) (string, error) {
	e, err := connect(ctx)
	if err != nil {
		return "", err
	}
	name, err := e.ensureImage(ctx, r, progress)
	return name, errors.Join(err, e.close())
}

func (e *engine) ensureImage(ctx context.Context, r recipe, progress io.Writer) (string, error) {
	b := &builder{engine: e, recipe: r, progress: progress}
	base, err := b.chooseBase()
	if err != nil {
		return "", err
	}
	name, found, err := b.find(ctx, base)
	if err != nil || found {
		return name, err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if name, found, err = b.find(ctx, base); err != nil || found {
		return name, err // another process has built it meanwhile
	}
	started := time.Now()
	if err := base.provide(ctx); err != nil {
		return "", err
	}
	// A named base may be another image after it was pulled.
	if name, err = b.name(ctx, base); err != nil {
		return "", err
	}
	b.say("building %s (once)", name)
	if err := b.build(ctx, "Dockerfile", name, base.image); err != nil {
		return "", fmt.Errorf("prepare image %s: %w", base.image, err)
	}
	b.say("built %s in %.0f s", name, time.Since(started).Seconds())
	return name, nil
}

// builder builds the image of one recipe.
type builder struct {
	engine   *engine
	recipe   recipe
	progress io.Writer
}

// say writes one line of progress. Progress that can't be shown stops nothing.
func (b *builder) say(format string, args ...any) {
	fmt.Fprintf(b.progress, b.recipe.name+" image: "+format+"\n", args...)
}

// find returns the image's name and whether the engine has it.
func (b *builder) find(ctx context.Context, base base) (name string, found bool, err error) {
	if name, err = b.name(ctx, base); err != nil {
		return "", false, err
	}
	id, err := b.imageID(ctx, name)
	return name, id != "", err
}

// name returns the image's name, whose tag is a hash of the base and of what
// is done to it.
func (b *builder) name(ctx context.Context, base base) (string, error) {
	identity := base.image
	if base.named {
		// The same name may come to mean another image.
		id, err := b.imageID(ctx, base.image)
		if err != nil {
			return "", fmt.Errorf("use image %q of %s: %w", base.image, b.recipe.variable, err)
		}
		identity = id
	}
	tag, err := b.hash(identity, append([]string{"Dockerfile"}, b.recipe.files...)...)
	return b.recipe.image() + ":" + tag, err
}

// hash returns a short hash of a text and of input files.
func (b *builder) hash(text string, files ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, text)
	for _, name := range files {
		data, err := fs.ReadFile(b.recipe.inputs, name)
		if err != nil {
			return "", fmt.Errorf("read image input: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12], nil
}

// imageID returns the ID of an image that the engine has, or "".
func (b *builder) imageID(ctx context.Context, name string) (string, error) {
	found, err := b.engine.cli.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("inspect image %s: %s", name, firstLine(err))
	}
	return found.ID, nil
}

// build builds an image from one of the Dockerfiles.
func (b *builder) build(ctx context.Context, dockerfile, tag, base string) error {
	context, err := b.context()
	if err != nil {
		return err
	}
	options := client.ImageBuildOptions{Dockerfile: dockerfile, Tags: []string{tag}, Remove: true, ForceRemove: true}
	if base != "" {
		options.BuildArgs = map[string]*string{"BASE": &base}
	}
	result, err := b.engine.cli.ImageBuild(ctx, context, options)
	if err != nil {
		return errors.New(firstLine(err))
	}
	defer result.Body.Close()
	return b.follow(result.Body)
}

// context returns the inputs as a tar archive.
func (b *builder) context() (io.Reader, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.AddFS(b.recipe.inputs); err != nil {
		return nil, fmt.Errorf("pack image inputs: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack image inputs: %w", err)
	}
	return &archive, nil
}

// follow shows the steps of a build. When one fails, the last line that it
// wrote says more than the engine, which just gives its exit status.
func (b *builder) follow(stream io.Reader) error {
	last := ""
	for decoder := json.NewDecoder(stream); ; {
		var m jsonstream.Message
		switch err := decoder.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read build output: %w", err)
		case m.Error != nil && last != "":
			return fmt.Errorf("%s (%s)", last, firstLine(m.Error))
		case m.Error != nil:
			return errors.New(firstLine(m.Error))
		}
		for line := range strings.Lines(m.Stream) {
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "Step "):
				b.say("%s", line)
				last = ""
			case line != "" && !strings.HasPrefix(line, "--->") && !strings.HasPrefix(line, "Removing intermediate"):
				last = line
			}
		}
	}
}

// lockInterval is how often a lock that another process holds is tried.
const lockInterval = 100 * time.Millisecond

// lock makes this process the only one of its user that builds.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("rowproof-image-%d.lock", os.Getuid()))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock image build: %w", err)
	}
	ticker := time.NewTicker(lockInterval)
	defer ticker.Stop()
	for told := false; ; told = true {
		locked, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("lock image build: %w", err)
		}
		if locked {
			return func() { file.Close() }, nil // closing unlocks
		}
		if !told {
			b.say("waiting for another process that builds it")
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("lock image build: %w", ctx.Err())
		}
	}
}
