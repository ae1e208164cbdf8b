package subject

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"rowproof/harness/history"
	"rowproof/harness/wire"
)

// engine is osc, as it is in the tree or with a mutant's patch.
type engine struct {
	build     *Build
	mutant    string // "" is the engine itself
	resumable bool
}

// Engine returns the subject "osc": the engine of this module.
func Engine(b *Build) Subject { return engine{build: b} }

func (e engine) Name() string {
	if e.mutant != "" {
		return history.MutantPrefix + e.mutant
	}
	return "osc"
}

func (e engine) Phrasebook() wire.Phrasebook { return wire.CommentPhrasebook("osc") }

// Tables holds for names that are short enough not to be cut.
func (e engine) Tables(table string) Tables {
	return Tables{Shadow: "_" + table + "_new", Old: "_" + table + "_old"}
}

// Resumable implements Resumer. osc always saves its progress, but not often.
func (e engine) Resumable() Subject {
	e.resumable = true
	return e
}

// SavesFirst implements Resumer.
func (e engine) SavesFirst() bool { return true }

func (e engine) Command(ctx context.Context, t Target) (Command, error) {
	path, err := e.build.program(ctx, e.mutant)
	if err != nil {
		return Command{}, err
	}
	argv := []string{
		path,
		"--host", t.Host,
		"--port", strconv.Itoa(t.Port),
		"--user", t.User,
		"--database", t.Schema,
		"--table", t.Table,
		"--alter", t.Alter,
		"--execute",
		// Nobody steers it, and a run that is killed would leave its socket.
		"--serve-socket-file", "off",
	}
	if !t.Verify {
		argv = append(argv, "--verify=off")
	}
	if e.resumable {
		argv = append(argv, "--checkpoint-seconds", "1")
	}
	if t.Resume {
		argv = append(argv, "--resume")
	}
	if t.Postpone {
		dir, err := e.build.private("osc")
		if err != nil {
			return Command{}, err
		}
		argv = append(argv, "--postpone-cut-over-flag-file", filepath.Join(dir, "postpone"))
	}
	if t.Chunk > 0 {
		argv = append(argv, "--chunk-size", strconv.Itoa(t.Chunk))
	}
	if t.Threads > 0 {
		argv = append(argv, "--threads", strconv.Itoa(t.Threads))
	}
	if t.LockWait > 0 {
		argv = append(argv, "--cut-over-lock-timeout-seconds", strconv.Itoa(int(t.LockWait.Seconds())))
	}
	if t.GTID {
		argv = append(argv, "--gtid")
	}
	return Command{
		Argv:    append(argv, t.Extra...),
		Env:     []string{"MYSQL_PWD=" + t.Password},
		Outcome: engineOutcome,
	}, nil
}

// engineOutcome tells what an exit status of osc means. A status that osc
// doesn't have must not pass for a clean end, nor must a panic, which shares
// its status with wrong usage.
func engineOutcome(status int, message string) string {
	switch {
	case status == 0:
		return Completed
	case status == 1:
		return Aborted
	case status == 2 && isTrace(message):
		return NeedsPerson
	case status == 2, status == 3:
		return Refused
	}
	return NeedsPerson
}

// isTrace reports whether a line is the end of a Go stack trace:
// "	/src/engine/run.go:12 +0x1d".
func isTrace(line string) bool {
	at := strings.LastIndex(line, " +0x")
	return at >= 0 && strings.Contains(line[:at], ".go:")
}
