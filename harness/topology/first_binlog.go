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
	statement := "RESET MASTER"
	if c.source.atLeast(8, 2) {
		statement = "RESET BINARY LOGS AND GTIDS"
	}
	if _, err := c.source.DB.ExecContext(ctx, fmt.Sprintf("%s TO %d", statement, c.spec.FirstBinlog)); err != nil {
		return fmt.Errorf("start binlog %d of %s: %w", c.spec.FirstBinlog, c.source.Name, err)
	}
	return nil
}
