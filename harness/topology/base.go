package topology

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/moby/moby/client"
)

// ImageVariable names the environment variable with an image to use instead
// of Debian's MySQL, such as an official one.
const ImageVariable = "ROWPROOF_MYSQL_IMAGE"

// debianImage is what base.Dockerfile starts from.
const debianImage = "debian:sid-slim"

// registryTimeout bounds the time until a registry has answered at all.
const registryTimeout = 10 * time.Second

// base is the image that an image is made from.
type base struct {
	image   string
	named   bool                        // by the user
	provide func(context.Context) error // makes sure that the engine has it
}

// chooseBase returns the image that the user named, or else one with Debian's
// packages.
func (b *builder) chooseBase() (base, error) {
	if name := os.Getenv(b.recipe.variable); name != "" {
		return base{image: name, named: true, provide: func(ctx context.Context) error {
			return b.provideNamed(ctx, name)
		}}, nil
	}
	return b.debianBase()
}

// debianBase returns the base with Debian's packages.
func (b *builder) debianBase() (base, error) {
	tag, err := b.hash("", "base.Dockerfile", "packages")
	if err != nil {
		return base{}, err
	}
	image := b.recipe.base() + ":" + tag
	return base{image: image, provide: func(ctx context.Context) error {
		return b.provideDebian(ctx, image)
	}}, nil
}

// provideNamed takes the user's image as the engine has it, or pulls it.
func (b *builder) provideNamed(ctx context.Context, name string) error {
	id, err := b.imageID(ctx, name)
	if err != nil || id != "" {
		return err
	}
	if err := b.pull(ctx, name); err != nil {
		return fmt.Errorf("use image %q of %s: the engine neither has it nor can pull it: %s", name, b.recipe.variable, firstLine(err))
	}
	return nil
}

// provideDebian builds the base from Debian's image, or without any registry
// from Debian's packages.
func (b *builder) provideDebian(ctx context.Context, image string) error {
	id, err := b.imageID(ctx, image)
	if err != nil || id != "" {
		return err
	}
	noRegistry := b.buildBase(ctx, image)
	if noRegistry == nil {
		return nil
	}
	b.say("no base from %s (%s)", debianImage, firstLine(noRegistry))
	if err := b.bootstrap(ctx, image); err != nil {
		other := ""
		if b.recipe.variable != "" {
			other = ", or set " + b.recipe.variable + " to an image that serves"
		}
		return fmt.Errorf("make a base for the %s image: %s; let the engine pull %s, or install mmdebstrap%s",
			b.recipe.name, firstLine(err), debianImage, other)
	}
	return nil
}

// buildBase builds base.Dockerfile.
func (b *builder) buildBase(ctx context.Context, image string) error {
	id, err := b.imageID(ctx, debianImage)
	if err != nil {
		return err
	}
	if id == "" {
		if err := b.pull(ctx, debianImage); err != nil {
			return err
		}
	}
	return b.build(ctx, "base.Dockerfile", image, "")
}

// pull pulls an image. It gives up soon if the registry does not answer, and
// takes its time otherwise.
func (b *builder) pull(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(registryTimeout, cancel)
	defer silent.Stop()
	b.say("pulling %s", name)
	pulled, err := b.engine.cli.ImagePull(ctx, name, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	defer pulled.Close()
	for message, err := range pulled.JSONMessages(ctx) {
		silent.Stop()
		switch {
		case err != nil:
			return err
		case message.Error != nil:
			return message.Error
		}
	}
	return ctx.Err()
}

// bootstrap makes the base with mmdebstrap and hands it to the engine as it
// comes.
func (b *builder) bootstrap(ctx context.Context, image string) error {
	packages, err := fs.ReadFile(b.recipe.inputs, "packages")
	if err != nil {
		return fmt.Errorf("read image input: %w", err)
	}
	tool, err := b.mmdebstrap(ctx)
	if err != nil {
		return err
	}
	b.say("making a base with mmdebstrap")
	cmd := exec.CommandContext(ctx, tool, "--quiet",
		// A mirror that stands still is as good as any.
		`--aptopt=Acquire::Check-Valid-Until "false"`,
		"--variant=essential", "--include="+strings.Join(strings.Fields(string(packages)), ","),
		"sid", "-")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	archive, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run mmdebstrap: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run mmdebstrap: %w", err)
	}
	imported := b.importBase(ctx, image, archive)
	// Whatever the engine has not read: mmdebstrap would wait for it.
	_, _ = io.Copy(io.Discard, archive)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("run mmdebstrap: %w: %s", err, lastLine(errors.String()))
	}
	return imported
}

// importBase gives the engine an image as the tar archive of its files. The
// image gets its name only when the whole archive has come.
func (b *builder) importBase(ctx context.Context, image string, archive io.Reader) error {
	result, err := b.engine.cli.ImageImport(ctx, client.ImageImportSource{Source: archive, SourceName: "-"}, image, client.ImageImportOptions{})
	if err != nil {
		return fmt.Errorf("import base image: %s", firstLine(err))
	}
	defer result.Close()
	return b.follow(result)
}

// mmdebstrap returns the tool's path and installs it where that is possible
// without asking: on a Debian system, as root.
func (b *builder) mmdebstrap(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("mmdebstrap"); err == nil {
		return path, nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return "", errors.New("no mmdebstrap here")
	}
	b.say("installing mmdebstrap with apt-get")
	install := func() ([]byte, error) {
		cmd := exec.CommandContext(ctx, apt, "install", "-y", "--no-install-recommends", "mmdebstrap")
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		return cmd.CombinedOutput()
	}
	if _, err := install(); err != nil { // a fresh system has no package lists yet
		if output, err := exec.CommandContext(ctx, apt, "update").CombinedOutput(); err != nil {
			return "", fmt.Errorf("install mmdebstrap: %w: %s", err, lastLine(string(output)))
		}
		if output, err := install(); err != nil {
			return "", fmt.Errorf("install mmdebstrap: %w: %s", err, lastLine(string(output)))
		}
	}
	return exec.LookPath("mmdebstrap")
}

// lastLine returns the last line with text in it.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
