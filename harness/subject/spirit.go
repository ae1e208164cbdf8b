package subject

import (
	"context"
	"net"
	"strconv"
	"strings"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

// spirit is spirit. It always verifies, so Target.Verify makes no difference.
type spirit struct{ program }

// Phrasebook implements Subject. spirit's shadow for t is _t_new. It knows no
// moment at which it reads the range to copy: its first chunk has no lower end
// and its last no upper one, so the read of the last, which is where the range
// ends, is range-read, and the reads of the others are copy-read.
//
// It writes nothing to find itself in the binlog, so sentinel and drain are
// missing: it reads the executed GTIDs, or the binlog's end, wherever it wants
// to catch up. The first such statement is where it attaches. It locks twice,
// once for the snapshots of its verify pass and once for the swap.
func (s spirit) Phrasebook() wire.Phrasebook {
	const shadow = "`[^`]+_new`"
	return wire.NewPhrasebook(
		wire.Phrase{Step: step.Dump, Kind: wire.KindDump},
		phrase(step.Preflight, `SELECT @@global\.binlog_format, `),
		phrase(step.Shadow, `(?:CREATE|ALTER) TABLE `+shadow),
		phrase(step.Attach, `SELECT @@GLOBAL\.gtid_executed|SHOW (?:MASTER|BINARY LOG) STATUS`),
		// A small table is one chunk, without any end.
		phrase(step.RangeRead, `SELECT .* FORCE INDEX \(PRIMARY\) WHERE [^<]*$`),
		phrase(step.CopyNext, "SELECT .* FORCE INDEX \\(`PRIMARY`\\) .* LIMIT 1 OFFSET \\d+\\s*$"),
		phrase(step.CopyRead, `SELECT .* FORCE INDEX \(PRIMARY\)`),
		phrase(step.CopyWrite, `INSERT IGNORE INTO `+shadow),
		phrase(step.Apply, `(?:REPLACE INTO|DELETE FROM) `+shadow),
		phrase(step.Verify, `SELECT BIT_XOR\(`),
		phrase(step.Lock, `LOCK TABLES `),
		phrase(step.Rename, `RENAME TABLE `),
		phrase(step.Unlock, `UNLOCK TABLES`),
		// It drops the same table before it makes it.
		phrase(step.Cleanup, `SELECT RELEASE_ALL_LOCKS\(`),
	)
}

// Tables implements TableNamer. The old table's name ends in the time.
func (s spirit) Tables(table string) Tables { return Tables{Shadow: "_" + table + "_new"} }

// LeastChunk implements Chunker.
func (spirit) LeastChunk() int { return 1000 }

// Command implements Subject.
func (s spirit) Command(_ context.Context, t Target) (Command, error) {
	dir, err := s.build.private(s.tool)
	if err != nil {
		return Command{}, err
	}
	account, err := optionFile(dir, t)
	if err != nil {
		return Command{}, err
	}
	argv := []string{
		s.path, "migrate",
		"--conf", account,
		"--host", net.JoinHostPort(t.Host, strconv.Itoa(t.Port)),
		"--database", t.Schema,
		"--statement", "ALTER TABLE " + quoteName(t.Table) + " " + t.Alter,
		// Nothing could be read behind TLS.
		"--tls-mode", "DISABLED",
		// The old table is what the new one is compared with.
		"--skip-drop-after-cutover",
	}
	if t.Threads > 0 {
		argv = append(argv, "--threads", strconv.Itoa(t.Threads))
	}
	if t.LockWait > 0 {
		argv = append(argv, "--lock-wait-timeout", t.LockWait.String())
	}
	return Command{Argv: append(argv, t.Extra...), Outcome: foreignOutcome}, nil
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
