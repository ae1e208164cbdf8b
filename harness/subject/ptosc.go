package subject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// ptOsc is pt-online-schema-change, which runs in a container.
type ptOsc struct{ build *Build }

const ptOscProgram = "pt-online-schema-change"

// Name implements Subject.
func (p ptOsc) Name() string { return ptOscName }

// PerformanceSchema implements Foreign.
func (p ptOsc) PerformanceSchema() bool { return false }

// Phrasebook implements Subject. This tool reads no binlog: triggers bring the
// application's changes to the shadow, within the application's statements. So
// dump, sentinel, apply and drain are missing; lock and unlock too, since one
// RENAME swaps the tables.
//
// Attach is the creation of the triggers: as a stream does from the position
// at which it is attached, they bring every change from then on. There are
// three, so the step has two moments in between at which only a part of the
// changes is brought.
func (p ptOsc) Phrasebook() wire.Phrasebook {
	return wire.NewPhrasebook(
		phrase(step.Preflight, `SHOW TRIGGERS FROM `),
		phrase(step.Shadow, "(?:CREATE|ALTER) TABLE `[^`]+`\\.`_+[^`]*_new`"),
		phrase(step.Attach, `CREATE TRIGGER `),
		// Where the range begins; where it ends shows as the copy goes on.
		phrase(step.RangeRead, `SELECT .*/\*first lower boundary\*/\s*$`),
		phrase(step.CopyNext, `SELECT .*/\*next chunk boundary\*/\s*$`),
		phrase(step.CopyWrite, `INSERT LOW_PRIORITY IGNORE INTO .*/\*pt-online-schema-change \d+ copy (?:table|nibble)\*/\s*$`),
		phrase(step.Rename, `RENAME TABLE `),
		phrase(step.Cleanup, `DROP TRIGGER IF EXISTS `),
	)
}

// Tables implements TableNamer. If there is one of this name, the tool puts
// more underscores before it.
func (p ptOsc) Tables(table string) Tables {
	return Tables{Shadow: "_" + table + "_new", Old: "_" + table + "_old"}
}

// Version implements Foreign.
func (p ptOsc) Version(ctx context.Context) (version string, err error) {
	dir, err := p.build.private(ptOscName)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := filepath.Join(dir, "version")
	run, err := Start(ctx, p.command("--version"), log)
	if err != nil {
		return "", err
	}
	// It is killed when ctx ends.
	result, err := run.Wait(context.WithoutCancel(ctx))
	if err != nil {
		return "", err
	}
	version = readVersion(ptOscProgram, result.Exit.Message)
	if version == "" {
		return "", fmt.Errorf("find version of %s: it says %q", ptOscProgram, result.Exit.Message)
	}
	return version, nil
}

func (p ptOsc) command(arguments ...string) Command {
	return Command{
		Argv:    append([]string{ptOscProgram}, arguments...),
		Outcome: foreignOutcome,
		boxes:   &p.build.boxes,
		idle:    ptOscIdle,
	}
}

// ptOscIdle fits what the tool says behind the reason why it gave up.
var ptOscIdle = regexp.MustCompile(`was not altered\.$|^Dropp(?:ing|ed) |^(?:\S+ )?at \S+ line \d+\.$|^\(in cleanup\)|^Error cleaning up|^Keep in mind|^Please read the documentation`)

// Command implements Subject.
func (p ptOsc) Command(ctx context.Context, t Target) (Command, error) {
	// The address is another one inside; the container is kept for Start.
	b, err := p.build.boxes.take(ctx)
	if err != nil {
		return Command{}, err
	}
	host, port, err := b.Reach(fmt.Sprintf("%s:%d", t.Host, t.Port))
	p.build.boxes.give(b)
	if err != nil {
		return Command{}, err
	}
	vars := "explain_format=TRADITIONAL"
	if t.LockWait > 0 {
		vars += fmt.Sprintf(",lock_wait_timeout=%d", int(t.LockWait.Seconds()))
	}
	arguments := []string{
		"--alter", t.Alter,
		"--execute",
		"--no-version-check",
		// What it could learn of replicas would not go through the proxy.
		"--recursion-method=none",
		// The old table is what the new one is compared with.
		"--no-drop-old-table",
		// A table of three rows is copied as one of three million would be: in
		// chunks. Without the second, the tool takes every table for empty on
		// servers whose EXPLAIN gives a tree by default, as MySQL 9.7 does, and
		// copies it by one statement.
		"--chunk-size-limit=0",
		"--set-vars=" + vars,
	}
	if t.Chunk > 0 {
		arguments = append(arguments, "--chunk-size="+strconv.Itoa(t.Chunk), "--chunk-time=0")
	}
	dsn := []string{"h=" + host, "P=" + port, "u=" + t.User, "D=" + t.Schema, "t=" + t.Table}
	c := p.command(append(append(arguments, t.Extra...), strings.Join(dsn, ","))...)
	c.Env = []string{"MYSQL_PWD=" + t.Password}
	return c, nil
}
