package stream

import (
	"context"
	"database/sql"
	"fmt"

	"rowproof/engine/mysql"
)

// Position is a place in the binlog at a transaction boundary. GTIDs is
// empty where the server runs without them or the engine does not use them.
type Position struct {
	File  string
	Pos   uint32
	GTIDs string // the executed set, in MySQL's text form
}

func (p Position) String() string {
	if p.GTIDs != "" {
		return fmt.Sprintf("%s:%d (%s)", p.File, p.Pos, p.GTIDs)
	}
	return fmt.Sprintf("%s:%d", p.File, p.Pos)
}

// Current reads the position at which the binlog ends now. A transaction
// that waits for the ACK of a semi-sync replica lies before File and Pos
// although no reader sees it yet: what such a transaction did must be found
// by locking reads, which wait for it.
func Current(ctx context.Context, s *mysql.Server, gtid bool) (Position, error) {
	query := "SHOW BINARY LOG STATUS"
	if !s.Version.AtLeast(8, 2) {
		query = "SHOW MASTER STATUS"
	}
	var p Position
	var doDB, ignoreDB sql.NullString
	err := s.DB.QueryRowContext(ctx, mysql.Step("attach", query)).Scan(&p.File, &p.Pos, &doDB, &ignoreDB, &p.GTIDs)
	if err != nil {
		return Position{}, fmt.Errorf("read binlog position: %w", err)
	}
	if !gtid {
		p.GTIDs = ""
	}
	return p, nil
}
