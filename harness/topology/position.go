package topology

import (
	"context"
	"database/sql"
	"fmt"
)

// Position is a place in a server's binlog.
type Position struct {
	File    string
	Pos     uint64
	GTIDSet string // @@gtid_executed; empty without GTIDs
}

// BinlogEnd returns the end of the server's binlog. On a semi-sync source,
// File and Pos lie behind a transaction that waits for its ACK, while GTIDSet
// does not have it yet.
func (s *Server) BinlogEnd(ctx context.Context) (Position, error) {
	statement := "SHOW MASTER STATUS"
	if s.atLeast(8, 2) {
		statement = "SHOW BINARY LOG STATUS"
	}
	var p Position
	var ignored sql.NullString
	err := s.DB.QueryRowContext(ctx, statement).Scan(&p.File, &p.Pos, &ignored, &ignored, &p.GTIDSet)
	if err != nil {
		return Position{}, fmt.Errorf("read binlog end of %s: %w", s.Name, err)
	}
	return p, nil
}

// OwnedGTIDs returns the GTIDs of the transactions that are under way, in the
// server's form: "UUID:5#14" is transaction 5 in thread 14. A transaction
// that waits for its ACK is among them. Empty without GTIDs.
func (s *Server) OwnedGTIDs(ctx context.Context) (string, error) {
	var owned string
	if err := s.DB.QueryRowContext(ctx, "SELECT @@GLOBAL.gtid_owned").Scan(&owned); err != nil {
		return "", fmt.Errorf("read owned GTIDs of %s: %w", s.Name, err)
	}
	return owned, nil
}
