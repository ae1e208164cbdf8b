package stream

import (
	"context"
	"fmt"
	"math"

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
	status, err := s.BinlogStatus(ctx, "attach")
	if err != nil {
		return Position{}, err
	}
	if status.Pos > math.MaxUint32 {
		return Position{}, fmt.Errorf("read binlog position: %s has grown to %d bytes, and a stream can't begin behind 4 GiB: FLUSH BINARY LOGS first",
			status.File, status.Pos)
	}
	p := Position{File: status.File, Pos: uint32(status.Pos), GTIDs: status.GTIDs}
	if !gtid {
		p.GTIDs = ""
	}
	return p, nil
}
