package topology

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// ReplicaStatus returns the one row of SHOW REPLICA STATUS; it is empty on a
// server that is no replica.
func (s *Server) ReplicaStatus(ctx context.Context) (map[string]string, error) {
	rows, err := s.DB.QueryContext(ctx, "SHOW REPLICA STATUS")
	if err != nil {
		return nil, fmt.Errorf("read replica status of %s: %w", s.Name, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("read replica status of %s: %w", s.Name, err)
	}
	status := make(map[string]string)
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		targets := make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, fmt.Errorf("read replica status of %s: %w", s.Name, err)
		}
		for i, column := range columns {
			status[column] = values[i].String
		}
	}
	return status, rows.Err()
}

// StopIO stops the thread of a replica that receives, and so gives no ACK any
// more. It returns when the thread has stopped.
func (s *Server) StopIO(ctx context.Context) error {
	return s.thread(ctx, "STOP REPLICA IO_THREAD", "Replica_IO_Running", "No")
}

// StartIO starts the thread of a replica that receives and waits until it is
// connected to the source.
func (s *Server) StartIO(ctx context.Context) error {
	return s.thread(ctx, "START REPLICA IO_THREAD", "Replica_IO_Running", "Yes")
}

// StopSQL stops the thread of a replica that applies.
func (s *Server) StopSQL(ctx context.Context) error {
	return s.thread(ctx, "STOP REPLICA SQL_THREAD", "Replica_SQL_Running", "No")
}

// StartSQL starts the thread of a replica that applies.
func (s *Server) StartSQL(ctx context.Context) error {
	return s.thread(ctx, "START REPLICA SQL_THREAD", "Replica_SQL_Running", "Yes")
}

// thread executes a statement and waits until the status says what it should.
func (s *Server) thread(ctx context.Context, statement, column, want string) error {
	if _, err := s.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s on %s: %w", statement, s.Name, err)
	}
	return poll(ctx, fmt.Sprintf("%s of %s to be %s", column, s.Name, want), func() (bool, error) {
		status, err := s.ReplicaStatus(ctx)
		if err == nil && want == "Yes" && status[column] == "No" {
			// It has begun, and given up; what it still tries is "Connecting".
			err = errors.New(cmp.Or(status["Last_IO_Error"], status["Last_SQL_Error"], "it ended"))
		}
		return status[column] == want, err
	})
}

// follow makes the server a replica of source, which it reaches at addr, and
// waits until its threads run.
func (s *Server) follow(ctx context.Context, source *Server, addr string, gtid bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("make %s a replica: %w", s.Name, err)
	}
	statement := "CHANGE REPLICATION SOURCE TO SOURCE_HOST='" + host + "', SOURCE_PORT=" + port +
		", SOURCE_USER='" + Replicator().User + "', SOURCE_PASSWORD='" + Replicator().Password +
		// It finds back within a second after a link was down, and the source
		// notices a lost replica as quickly.
		"', SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=86400, SOURCE_HEARTBEAT_PERIOD=1, SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=1"
	if gtid {
		statement += ", SOURCE_AUTO_POSITION=1"
	} else {
		file, pos, err := source.firstBinlog(ctx)
		if err != nil {
			return err
		}
		statement += ", SOURCE_AUTO_POSITION=0, SOURCE_LOG_FILE='" + file + "', SOURCE_LOG_POS=" + strconv.Itoa(pos)
	}
	if _, err := s.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("make %s a replica: %w", s.Name, err)
	}
	if err := s.StartSQL(ctx); err != nil {
		return err
	}
	return s.StartIO(ctx)
}

// firstBinlog returns where a new server's binlog starts.
func (s *Server) firstBinlog(ctx context.Context) (file string, pos int, err error) {
	var size int
	var encrypted string
	if err := s.DB.QueryRowContext(ctx, "SHOW BINARY LOGS").Scan(&file, &size, &encrypted); err != nil {
		return "", 0, fmt.Errorf("read first binlog of %s: %w", s.Name, err)
	}
	const afterMagic = 4
	return file, afterMagic, nil
}

// WaitReplicated waits until every replica has applied all that the source
// has committed by now.
func (c *Cluster) WaitReplicated(ctx context.Context) error {
	end, err := c.source.BinlogEnd(ctx)
	if err != nil {
		return err
	}
	for _, r := range c.replicas {
		if err := r.waitApplied(ctx, end, c.spec.GTID); err != nil {
			return fmt.Errorf("wait for %s to catch up: %w", r.Name, err)
		}
	}
	return nil
}

// waitApplied waits in the server, a second at a time, so that a stopped
// thread and the end of ctx are noticed.
func (s *Server) waitApplied(ctx context.Context, end Position, gtid bool) error {
	query, args := "SELECT SOURCE_POS_WAIT(?, ?, 1)", []any{end.File, end.Pos}
	if gtid {
		query, args = "SELECT WAIT_FOR_EXECUTED_GTID_SET(?, 1)", []any{end.GTIDSet}
	}
	for {
		var result sql.NullInt64
		if err := s.DB.QueryRowContext(ctx, query, args...).Scan(&result); err != nil {
			return err
		}
		switch {
		case gtid && result.Int64 == 0, !gtid && result.Valid && result.Int64 >= 0:
			return nil
		}
		status, err := s.ReplicaStatus(ctx)
		if err != nil {
			return err
		}
		if text := status["Last_SQL_Error"]; text != "" {
			return errors.New(text)
		}
		if !result.Valid && status["Replica_SQL_Running"] == "No" {
			return errors.New("its SQL thread does not run")
		}
	}
}

// SemiSyncAttached waits until the source counts every replica as one that
// gives ACKs. It returns at once for a cluster without semi-sync.
func (c *Cluster) SemiSyncAttached(ctx context.Context) error {
	if !c.spec.SemiSync || len(c.replicas) == 0 {
		return nil
	}
	return poll(ctx, "semi-sync to attach", func() (bool, error) {
		clients, err := c.source.Status(ctx, "Rpl_semi_sync_source_clients")
		if err != nil {
			return false, err
		}
		status, err := c.source.Status(ctx, "Rpl_semi_sync_source_status")
		return status == "ON" && clients == strconv.Itoa(len(c.replicas)), err
	})
}

// Status returns one global status variable, empty if there is none.
func (s *Server) Status(ctx context.Context, name string) (string, error) {
	var value string
	err := s.DB.QueryRowContext(ctx, "SHOW GLOBAL STATUS WHERE Variable_name = ?", name).Scan(&name, &value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read status of %s: %w", s.Name, err)
	}
	return value, nil
}
