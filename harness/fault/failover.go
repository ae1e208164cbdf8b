package fault

import (
	"context"
	"errors"
	"fmt"

	"rowproof/harness/history"
)

// Failover loses the source for good and makes its first replica the source:
// behind their addresses, subject and application find that one from now on.
// What the replica had not received is lost with the source. No write waits
// for an ACK afterwards.
func Failover() Action {
	name := "fail over to the replica"
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		ctx, cancel := settle(ctx)
		defer cancel()
		replicas := s.Cluster.Replicas()
		if len(replicas) == 0 {
			return errors.New("the cluster has no replica")
		}
		if err := s.Cluster.Promote(ctx, replicas[0], s.Links.Subject, s.Links.App); err != nil {
			return err
		}
		var want string
		if err := replicas[0].DB.QueryRowContext(ctx, "SELECT @@server_uuid").Scan(&want); err != nil {
			return fmt.Errorf("ask for the new source's identity: %w", err)
		}
		err := seen(ctx, "the application finds the new source", func(ctx context.Context) (bool, error) {
			var got string
			err := s.App.QueryRowContext(ctx, "SELECT @@server_uuid").Scan(&got)
			return err == nil && got == want, nil // its old connections are broken
		})
		if err != nil {
			return err
		}
		s.Recorder.Mark(history.Mark{Lane: replicas[0].Name, Name: history.MarkServer, Text: name, Data: map[string]string{"what": name}})
		return nil
	}}
}
