package topology

import (
	"context"
	"fmt"
	"slices"
)

// Promote makes a replica the source, as after the loss of the source: that
// is killed and stays so, with what it had not sent yet. The replica applies
// all that it has received and takes writes then; the other replicas follow
// it, which takes GTIDs, and so do these links. It does not wait for ACKs,
// whatever the old source did. The cluster can't be kept in a pool any more.
func (c *Cluster) Promote(ctx context.Context, replica *Server, links ...*Link) error {
	old, others := c.Source(), c.Replicas()
	at := slices.Index(others, replica)
	if at < 0 {
		return fmt.Errorf("promote %s: it is no replica", replica.Name)
	}
	others = slices.Delete(slices.Clone(others), at, at+1)
	if len(others) > 0 && !c.spec.GTID {
		return fmt.Errorf("promote %s: without GTIDs %s can't follow it: set Spec.GTID", replica.Name, others[0].Name)
	}
	// Nobody is to find the old source, nor the new one too early.
	for _, other := range others {
		links = append(links, c.links[other.Name])
	}
	for _, link := range links {
		link.Down()
	}
	if old.Running() {
		if err := old.Kill(ctx); err != nil {
			return fmt.Errorf("promote %s: %w", replica.Name, err)
		}
	}
	if err := replica.standAlone(ctx); err != nil {
		return fmt.Errorf("promote %s: %w", replica.Name, err)
	}
	for _, other := range others {
		replica.inbound = append(replica.inbound, c.links[other.Name])
	}
	c.mu.Lock()
	c.source, c.replicas, c.fenced = replica, others, append(c.fenced, old)
	c.mu.Unlock()
	for _, link := range links {
		link.Redirect(replica.Addr)
		link.Up()
	}
	return nil
}

// standAlone makes a replica a server that follows nobody, once it has
// applied what it has received.
func (s *Server) standAlone(ctx context.Context) error {
	if err := s.StopIO(ctx); err != nil {
		return err
	}
	if err := s.StartSQL(ctx); err != nil {
		return err
	}
	err := poll(ctx, s.Name+" to apply what it has received", func() (bool, error) {
		status, err := s.ReplicaStatus(ctx)
		if err == nil && status["Last_SQL_Error"] != "" {
			return false, fmt.Errorf("apply: %s", status["Last_SQL_Error"])
		}
		return status["Relay_Source_Log_File"] == status["Source_Log_File"] &&
			status["Exec_Source_Log_Pos"] == status["Read_Source_Log_Pos"], err
	})
	if err != nil {
		return err
	}
	for _, statement := range []string{"STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"} {
		if _, err := s.DB.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s on %s: %w", statement, s.Name, err)
		}
	}
	return nil
}
