package fault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// ReadAndStayOpen has another session read a table in a transaction that it
// leaves open: nobody can change the table's definition until that ends.
func ReadAndStayOpen(role Role) Action {
	return metadataLock("leave a transaction open that has read the "+string(role), func(table string) []string {
		return []string{"START TRANSACTION", "DO (SELECT COUNT(*) FROM " + table + " WHERE FALSE)"}
	}, role)
}

// LockForRead has another session take LOCK TABLES READ: nobody can write the
// table until that ends.
func LockForRead(role Role) Action {
	return metadataLock("lock the "+string(role)+" for READ", func(table string) []string {
		return []string{"LOCK TABLES " + table + " READ"}
	}, role)
}

// LockForWrite has another session take LOCK TABLES WRITE: nobody can read or
// write the table until that ends.
func LockForWrite(role Role) Action {
	return metadataLock("lock the "+string(role)+" for WRITE", func(table string) []string {
		return []string{"LOCK TABLES " + table + " WRITE"}
	}, role)
}

func metadataLock(name string, statements func(table string) []string, role Role) Action {
	return holding(name, func(ctx context.Context, s *Site, h *session) error {
		table, err := s.quoted(role)
		if err != nil {
			return err
		}
		if err := h.exec(ctx, statements(table)...); err != nil {
			return err
		}
		if s.Cluster.Spec().PerformanceSchema {
			return s.seeMetadataLock(ctx, role, h)
		}
		return s.seeBlocked(ctx, "LOCK TABLES "+table+" WRITE")
	})
}

func (s *Site) seeMetadataLock(ctx context.Context, role Role, h *session) error {
	t, err := s.table(role)
	if err != nil {
		return err
	}
	var held int
	err = s.Cluster.Source().DB.QueryRowContext(ctx, `
		SELECT COUNT(*) FROM performance_schema.metadata_locks
		  JOIN performance_schema.threads ON THREAD_ID = OWNER_THREAD_ID
		 WHERE PROCESSLIST_ID = ? AND LOCK_STATUS = 'GRANTED'
		   AND OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA = ? AND OBJECT_NAME = ?`, h.id, t.Schema, t.Name).Scan(&held)
	if err == nil && held == 0 {
		err = errors.New("the server has none for that session")
	}
	if err != nil {
		return fmt.Errorf("look for the metadata lock: %w", err)
	}
	return nil
}

// errInterrupted is the server's answer to a statement ended by KILL QUERY.
const errInterrupted = 1317

// seeBlocked has one more session send a statement, which must be seen to
// wait for a metadata lock, and ends it.
func (s *Site) seeBlocked(ctx context.Context, statement string) error {
	return s.with(ctx, func(h *session) error {
		answer := make(chan error, 1)
		go func() { answer <- h.exec(ctx, statement) }()
		var early error
		ended := false
		err := every(ctx, func() (bool, error) {
			select {
			case early = <-answer:
				ended = true
				return true, nil
			default:
			}
			return s.waitsForTable(ctx, h.id)
		})
		if ended {
			return fmt.Errorf("%s should wait, and was answered (error: %v)", statement, early)
		}
		_, killed := s.Cluster.Source().DB.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", h.id))
		if killed != nil {
			err = errors.Join(err, killed, h.discard())
		}
		if last := <-answer; last != nil && !isCode(last, errInterrupted) && !errors.Is(last, sql.ErrConnDone) {
			err = errors.Join(err, last)
		}
		return err
	})
}

// waitsForTable asks whether a session of the source waits for the lock of a
// table.
func (s *Site) waitsForTable(ctx context.Context, id uint64) (waits bool, err error) {
	err = s.Cluster.Source().DB.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ? AND STATE = 'Waiting for table metadata lock')", id).Scan(&waits)
	if err != nil {
		return false, fmt.Errorf("look whether session %d waits: %w", id, err)
	}
	return waits, nil
}

// isCode reports whether an error is the server's with this number.
func isCode(err error, code uint16) bool {
	var refused *mysql.MySQLError
	return errors.As(err, &refused) && refused.Number == code
}
