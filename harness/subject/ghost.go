package subject

import (
	"context"
	"path/filepath"
	"strconv"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// ghOst is gh-ost.
type ghOst struct {
	program
	resumable bool
}

// Phrasebook implements Subject. gh-ost puts a comment with its name into each
// statement that matters. Its tables for t are _t_gho, the shadow, and _t_ghc,
// into which it writes notes to itself that come back by the binlog.
//
// It has no copy-read, since a chunk is copied by one statement, and no index
// and no verify. It asks for the binlog early, and throws away what comes
// until it begins to listen for changes of the table, which it does without a
// word: attach is the last statement before that. Where it can be resumed,
// that statement is the count of the rows, if it is to count them.
func (g ghOst) Phrasebook() wire.Phrasebook {
	phrases := []wire.Phrase{
		{Step: step.Dump, Kind: wire.KindDump},
		phrase(step.Preflight, `show /\* gh-ost \*/ grants|explain select /\* gh-ost`),
		// One statement in the atomic cut-over, two in the two-step one.
		phrase(step.Rename, `rename /\* gh-ost \*/|alter /\* gh-ost \*/ table \S+ rename `),
		phrase(step.Shadow, `(?:create|alter) /\* gh-ost \*/ table \S+_gh[oc]`+"`"),
		// Both of the pair: each is a write that waits for what came before.
		phrase(step.Sentinel, note(`[02]`, `ReadMigrationRangeValues`)),
		// The second of two statements, which ends the range: the first reads
		// where it begins.
		phrase(step.RangeRead, `select /\* gh-ost [^*]+[^*:]\*/ .* force index \(.* desc limit 1\s*$`),
		phrase(step.CopyNext, `select /\* gh-ost [^*]+ iteration:\d+ \*/`),
		phrase(step.CopyWrite, `insert /\* gh-ost [^*]+\*/ ignore into [^(]+_gho`+"`"+` .*\bselect `),
		phrase(step.Apply, `(?:insert|update|delete|replace) /\* gh-ost \S+_gho`+"`"),
		phrase(step.Lock, `lock /\* gh-ost \*/ tables `),
		phrase(step.Drain, note(`2`, `AllEventsUpToLockProcessed:\d+`)),
		phrase(step.Unlock, `unlock /\* gh-ost \*/ tables`),
		// What comes next drops _t_ghc, as it also did in the beginning.
		phrase(step.Cleanup, note(`2`, `Migrated`)),
	}
	if g.resumable {
		phrases = append(phrases,
			phrase(step.Attach, `select /\* gh-ost \*/ count\(\*\) as count_rows`),
			phrase(step.Checkpoint, `insert /\* gh-ost \*/ into \S+_ghk`+"`"))
	} else {
		phrases = append(phrases, phrase(step.Attach, `select /\* gh-ost \*/ \* from information_schema\.columns[^;]*_gho'`))
	}
	return wire.NewPhrasebook(phrases...)
}

// note is the pattern of a note that gh-ost writes to itself. It writes each
// twice: with id 2, which is the one that it reads, and with id 0.
func note(id, text string) string {
	return `insert /\* gh-ost \*/ into \S+_ghc` + "`" + ` .*\b` + id + `, 0\), 'state[^']*', '` + text + `'`
}

// Tables implements TableNamer.
func (g ghOst) Tables(table string) Tables {
	return Tables{Shadow: "_" + table + "_gho", Old: "_" + table + "_del", Saved: "_" + table + "_ghk"}
}

// Resumable implements Resumer. gh-ost saves its progress if it is told to,
// every 10 s at most.
func (g ghOst) Resumable() Subject {
	g.resumable = true
	return g
}

// SavesFirst implements Resumer.
func (g ghOst) SavesFirst() bool { return false }

// Command implements Subject.
func (g ghOst) Command(_ context.Context, t Target) (Command, error) {
	dir, err := g.build.private(g.tool)
	if err != nil {
		return Command{}, err
	}
	account, err := optionFile(dir, t)
	if err != nil {
		return Command{}, err
	}
	host, port := t.Host, strconv.Itoa(t.Port)
	argv := []string{
		g.path,
		"--conf", account,
		"--host", host,
		"--port", port,
		"--database", t.Schema,
		"--table", t.Table,
		"--alter", t.Alter,
		"--execute",
		// It works on the source, and must not ask that who its source is.
		"--allow-on-master", "--assume-master-host", host + ":" + port,
		// It would restart replication to be sure of the binlog's format.
		"--assume-rbr",
		// The proxy's port is not the one that the server tells.
		"--skip-port-validation",
		// By default all runs of a machine share this file.
		"--throttle-additional-flag-file", filepath.Join(dir, "throttle"),
		"--serve-socket-file", filepath.Join(dir, "sock"),
	}
	if g.resumable {
		argv = append(argv, "--checkpoint", "--checkpoint-seconds", "10")
	}
	if t.Count {
		argv = append(argv, "--exact-rowcount", "--concurrent-rowcount=false")
	}
	if t.GTID {
		argv = append(argv, "--gtid")
	}
	if t.Resume {
		argv = append(argv, "--resume")
	}
	if t.Postpone {
		argv = append(argv, "--postpone-cut-over-flag-file", filepath.Join(dir, "postpone"))
	}
	if t.Chunk > 0 {
		argv = append(argv, "--chunk-size", strconv.Itoa(t.Chunk)) // 10 at least
	}
	if t.LockWait > 0 {
		argv = append(argv, "--cut-over-lock-timeout-seconds", strconv.Itoa(int(t.LockWait.Seconds())))
	}
	return Command{Argv: append(argv, t.Extra...), Outcome: foreignOutcome}, nil
}
