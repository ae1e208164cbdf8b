package topology

import (
	"context"
	"fmt"
)

// startBinlog lets the source write the file that Spec.FirstBinlog asks for,
// and forget all that it has written.
func (c *Cluster) startBinlog(ctx context.Context) error {
	if c.spec.FirstBinlog == 0 {
		return nil
	}
	return c.source.ResetBinlogs(ctx, c.spec.FirstBinlog)
}

// ResetBinlogs makes the server forget its binlog and its GTIDs, and begin
// with the file of this number.
func (s *Server) ResetBinlogs(ctx context.Context, number int) error {
	statement := "RESET MASTER"
	if s.atLeast(8, 2) {
		statement = "RESET BINARY LOGS AND GTIDS"
	}
	if _, err := s.DB.ExecContext(ctx, fmt.Sprintf("%s TO %d", statement, number)); err != nil {
		return fmt.Errorf("start binlog %d of %s: %w", number, s.Name, err)
	}
	return nil
}
