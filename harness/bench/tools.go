package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// tools are the contenders that are there.
type tools struct {
	all     []contender
	leftOut []string // what is not there, and why

	build   *subject.Build
	toolbox *topology.Toolbox
	ptLog   *os.File
	private string // directory with the option file
}

// open finds out which tools are there. Only osc must be.
func (t *tools) open(ctx context.Context, cfg Config, s *site) (err error) {
	if t.private, err = os.MkdirTemp("", "rowproof-bench-"); err != nil {
		return fmt.Errorf("make temporary directory: %w", err)
	}
	if t.build, err = subject.NewBuild(cfg.Root); err != nil {
		return err
	}
	if err := t.addEngine(ctx, cfg, s); err != nil {
		return err
	}
	t.all = append(t.all, statement(s, "COPY"), statement(s, "INPLACE"))
	if err := t.addPtOsc(ctx, cfg, s); err != nil {
		return err
	}
	return t.addForeign(cfg, s)
}

// close removes what open made.
func (t *tools) close() error {
	var errs []error
	if t.toolbox != nil {
		errs = append(errs, t.toolbox.Close())
	}
	if t.ptLog != nil {
		errs = append(errs, t.ptLog.Close())
	}
	if t.build != nil {
		errs = append(errs, t.build.Close())
	}
	if t.private != "" {
		errs = append(errs, os.RemoveAll(t.private))
	}
	return errors.Join(errs...)
}

// contenders returns every way to do the whole job.
func (t *tools) contenders() []contender { return t.all }

// streamers returns those whose backlog can be held and timed.
func (t *tools) streamers() []contender {
	return slices.DeleteFunc(slices.Clone(t.all), func(c contender) bool { return c.stream == nil })
}

// addEngine adds osc, in the ways in which it can do the job.
func (t *tools) addEngine(ctx context.Context, cfg Config, s *site) error {
	add := func(name string, verify bool, extra ...string) error {
		target, err := s.target(s.server.Addr)
		if err != nil {
			return err
		}
		target.Verify, target.Extra = verify, append(extra, "--ok-to-drop-table")
		c, err := subject.Engine(t.build).Command(ctx, target)
		if err != nil {
			return err
		}
		t.all = append(t.all, process(name, cfg.Logs, c, "--host", "--port", "--user", "--database"))
		return nil
	}
	if err := add("osc", true); err != nil {
		return err
	}
	t.all[0].stream = heldEngine{build: t.build, site: s}
	if err := add("osc-noverify", false); err != nil {
		return err
	}
	return add("osc-inline", true, "--defer-secondary-indexes=off")
}

// target is the migration as a subject is asked for it.
func (s *site) target(addr string) (subject.Target, error) {
	host, port, ok := strings.Cut(addr, ":")
	number, err := strconv.Atoi(port)
	if !ok || err != nil {
		return subject.Target{}, fmt.Errorf("migrate on %q: not host:port", addr)
	}
	account := topology.Migrator()
	return subject.Target{
		Host: host, Port: number, User: account.User, Password: account.Password,
		Schema: topology.Database, Table: s.table.Name, Alter: Alter, Verify: true,
	}, nil
}

// addPtOsc adds pt-online-schema-change if its image can be made.
func (t *tools) addPtOsc(ctx context.Context, cfg Config, s *site) (err error) {
	if t.ptLog, err = os.Create(filepath.Join(cfg.Logs, "pt-osc.log")); err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	t.toolbox, err = topology.OpenToolbox(ctx, t.ptLog)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var c contender
	if err == nil {
		c, err = ptOsc(s, t.toolbox)
	}
	if err != nil {
		t.leftOut = append(t.leftOut, "pt-osc: "+err.Error())
		return nil
	}
	t.all = append(t.all, c)
	return nil
}

// addForeign adds the tools that the user has given.
func (t *tools) addForeign(cfg Config, s *site) error {
	client, err := writeClient(t.private, topology.Root())
	if err != nil {
		return err
	}
	if cfg.GhOst == "" {
		t.leftOut = append(t.leftOut, "gh-ost: no --gh-ost given")
	} else {
		g := ghOst{path: cfg.GhOst, client: client, dir: t.private, site: s}
		command, err := g.command(s.server.Addr)
		if err != nil {
			return err
		}
		c := process("gh-ost", cfg.Logs, command, "--host", "--port", "--conf", "--database",
			"--serve-socket-file", "--throttle-additional-flag-file")
		c.stream = g
		t.all = append(t.all, c)
	}
	if cfg.Spirit == "" {
		t.leftOut = append(t.leftOut, "spirit: no --spirit given")
		return nil
	}
	t.all = append(t.all, process("spirit", cfg.Logs, spirit(cfg.Spirit, client, s), "--host", "--conf", "--database"))
	return nil
}

// spirit is how spirit is called.
func spirit(path, client string, s *site) subject.Command {
	return subject.Command{
		Argv: []string{path, "migrate", "--host", s.server.Addr, "--conf", client, "--database", topology.Database,
			"--tls-mode=DISABLED", "--statement", "ALTER TABLE " + quote(s.table.Name) + " " + Alter},
		Outcome: byStatus,
	}
}

// ghOst is how gh-ost is called.
type ghOst struct {
	path   string
	client string // option file
	dir    string // for its socket and its flag files
	site   *site
}

func (g ghOst) command(addr string, extra ...string) (subject.Command, error) {
	target, err := g.site.target(addr)
	if err != nil {
		return subject.Command{}, err
	}
	return subject.Command{
		Argv: append([]string{g.path, "--host", target.Host, "--port", strconv.Itoa(target.Port), "--conf", g.client,
			"--database", topology.Database, "--table", g.site.table.Name, "--alter", Alter, "--execute",
			// Its own file of this name is shared by all of a machine.
			"--throttle-additional-flag-file", filepath.Join(g.dir, "gh-ost.throttle"),
			"--serve-socket-file", filepath.Join(g.dir, "gh-ost.sock"), "--initially-drop-socket-file",
			// There is one server, and it may be behind a proxy.
			"--allow-on-master", "--assume-rbr", "--skip-port-validation",
			"--ok-to-drop-table"}, extra...),
		Outcome: byStatus,
	}, nil
}
