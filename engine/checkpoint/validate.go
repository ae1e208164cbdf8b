package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Validate refuses a checkpoint of another migration than the one at hand.
func (d Document) Validate(now Migration) error {
	was := d.Migration
	for _, c := range []struct{ what, was, now, why, do string }{
		{"server_uuid", was.Server, now.Server, "another server answers: positions in its binlog mean something else", "connect to the server of the first run"},
		{"table", was.Table, now.Table, "the checkpoint is of another table", "name that table"},
		{"ALTER", was.Alter, now.Alter, "the shadow was made by another ALTER", "give the ALTER of the first run"},
		{"definition", was.Original, now.Original, "somebody changed the definition of the table meanwhile", ""},
		{"definition", was.Shadow, now.Shadow, "somebody changed the definition of the shadow meanwhile", ""},
		{"key", was.Key, now.Key, "rows are found by another key", "resume with the osc of the first run"},
	} {
		if c.was == c.now {
			continue
		}
		refusal := &ddl.Refusal{What: "--resume", Why: c.why, Do: "leave out --resume to start over"}
		if c.do != "" {
			refusal.Why += fmt.Sprintf(" (%s was %q and is %q)", c.what, c.was, c.now)
			refusal.Do = c.do + ", or " + refusal.Do
		}
		return refusal
	}
	return nil
}

// RefuseHistory is a refusal: the binlog does not hold what came after the
// checkpoint.
func RefuseHistory(why string) error {
	return &ddl.Refusal{What: "--resume", Why: why, Do: "leave out --resume to start over"}
}

// CheckBinlog refuses a checkpoint from which the server's binlog can't be
// followed any more.
func (d Document) CheckBinlog(ctx context.Context, s *mysql.Server) error {
	p := d.Progress
	if p.GTIDs != "" {
		var executed, kept bool
		err := s.DB.QueryRowContext(ctx, mysql.Step("preflight",
			"SELECT GTID_SUBSET(?, @@global.gtid_executed), GTID_SUBSET(@@global.gtid_purged, ?)"), p.GTIDs, p.GTIDs).Scan(&executed, &kept)
		switch {
		case err != nil:
			return fmt.Errorf("look for the checkpoint in the binlog: %w", err)
		case !executed:
			return RefuseHistory("the server has not executed all transactions that the first run saw: its history is another one")
		case !kept:
			return RefuseHistory("the server has purged transactions that followed the checkpoint")
		}
		return nil
	}
	rows, err := s.DB.QueryContext(ctx, mysql.Step("preflight", "SHOW BINARY LOGS"))
	if err != nil {
		return fmt.Errorf("look for the checkpoint in the binlog: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var file, encrypted string
		var size uint64
		if err := rows.Scan(&file, &size, &encrypted); err != nil {
			return fmt.Errorf("look for the checkpoint in the binlog: %w", err)
		}
		if file != p.File {
			continue
		}
		if size < uint64(p.Pos) {
			return RefuseHistory(fmt.Sprintf("binlog file %s ends at %d, before the checkpoint's position %d", file, size, p.Pos))
		}
		return nil
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look for the checkpoint in the binlog: %w", err)
	}
	return RefuseHistory(fmt.Sprintf("binlog file %s, which the checkpoint names, is gone", p.File))
}

// nextNumber is the one part of a definition that inserts change.
var nextNumber = regexp.MustCompile(`(?m)^(\) ENGINE=\w+) AUTO_INCREMENT=\d+`)

// Fingerprint is equal for equal definitions, as SHOW CREATE TABLE gives them.
func Fingerprint(definition string) string {
	sum := sha256.Sum256([]byte(nextNumber.ReplaceAllString(definition, "$1")))
	return hex.EncodeToString(sum[:])
}
