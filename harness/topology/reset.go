package topology

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// state is what a clean server has to look like: its global variables and
// its accounts as they were when it was started.
type state struct {
	variables map[string]string
	accounts  map[string]string
}

// snapshot remembers how the servers are now, for reset to compare with.
func (c *Cluster) snapshot(ctx context.Context) error {
	for _, s := range c.Servers() {
		var err error
		if s.clean, err = s.state(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) state(ctx context.Context) (state, error) {
	variables, err := s.Variables(ctx)
	if err != nil {
		return state{}, err
	}
	// These move by themselves, with work and with the server's start.
	for name := range variables {
		if strings.HasPrefix(name, "gtid_") && name != "gtid_mode" || name == "pid_file" || name == "port_open_timeout" {
			delete(variables, name)
		}
	}
	accounts, err := s.pairs(ctx, "SELECT CONCAT(user, '@', host), CONCAT_WS(' ', plugin, authentication_string, account_locked) FROM mysql.user")
	return state{variables, accounts}, err
}

// reset brings a cluster back to the state in which it was started. An error
// means that it can't: the cluster is then to be closed.
func (c *Cluster) reset(ctx context.Context) error {
	if len(c.fenced) > 0 {
		return fmt.Errorf("reset cluster: %s was lost, and %s is the source", c.fenced[0].Name, c.source.Name)
	}
	for _, link := range c.links {
		link.Clear(ctx)
	}
	for _, s := range c.Servers() {
		if err := s.endSessions(ctx); err != nil {
			return err
		}
		if err := s.checkPrepared(ctx); err != nil {
			return err
		}
	}
	for _, r := range c.replicas {
		if _, err := r.DB.ExecContext(ctx, "START REPLICA"); err != nil {
			return fmt.Errorf("reset %s: %w", r.Name, err)
		}
	}
	if err := c.SemiSyncAttached(ctx); err != nil {
		return err
	}
	if err := c.source.dropDatabases(ctx); err != nil {
		return err
	}
	if err := c.WaitReplicated(ctx); err != nil {
		return err
	}
	for _, s := range c.Servers() {
		if err := s.checkClean(ctx); err != nil {
			return err
		}
	}
	return c.purge(ctx)
}

// endSessions kills whatever sessions were left behind and waits for them to
// go.
func (s *Server) endSessions(ctx context.Context) error {
	// Our own idle connections look like anybody's.
	s.DB.SetMaxIdleConns(0)
	defer s.DB.SetMaxIdleConns(idleConns)
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("reset %s: %w", s.Name, err)
	}
	defer conn.Close()
	return poll(ctx, "old sessions of "+s.Name+" to end", func() (bool, error) {
		ids, err := sessions(ctx, conn)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if _, err := conn.ExecContext(ctx, fmt.Sprintf("KILL %d", id)); err != nil && !isNoSuchThread(err) {
				return false, err
			}
		}
		return len(ids) == 0, nil
	})
}

// sessions returns the sessions of clients other than conn itself and the
// replicas.
func sessions(ctx context.Context, conn *sql.Conn) ([]int64, error) {
	rows, err := conn.QueryContext(ctx, `SELECT id FROM information_schema.processlist
		WHERE id <> CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler', ?)`, Replicator().User)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// dropDatabases drops every database that is not MySQL's own.
func (s *Server) dropDatabases(ctx context.Context) error {
	names, err := s.databases(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := s.DB.ExecContext(ctx, "DROP DATABASE "+quote(name)); err != nil {
			return fmt.Errorf("reset %s: %w", s.Name, err)
		}
	}
	return nil
}

func (s *Server) databases(ctx context.Context) ([]string, error) {
	found, err := s.pairs(ctx, `SELECT schema_name, '' FROM information_schema.schemata
		WHERE schema_name NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')`)
	return slices.Sorted(maps.Keys(found)), err
}

// checkClean names the first thing that is not as it was at the start.
func (s *Server) checkClean(ctx context.Context) error {
	now, err := s.state(ctx)
	if err != nil {
		return err
	}
	for name := range now.variables {
		if got, want := now.variables[name], s.clean.variables[name]; got != want {
			return fmt.Errorf("reset %s: variable %s is %q, was %q", s.Name, name, got, want)
		}
	}
	if !maps.Equal(now.accounts, s.clean.accounts) {
		return fmt.Errorf("reset %s: its accounts have changed", s.Name)
	}
	// A replica may have databases that its source never had.
	names, err := s.databases(ctx)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("reset %s: it has database %s", s.Name, names[0])
	}
	return nil
}

// checkPrepared finds XA transactions, which outlive their session and whose
// locks would block what reset does.
func (s *Server) checkPrepared(ctx context.Context) error {
	prepared, err := s.DB.QueryContext(ctx, "XA RECOVER")
	if err != nil {
		return fmt.Errorf("reset %s: %w", s.Name, err)
	}
	defer prepared.Close()
	if prepared.Next() {
		return fmt.Errorf("reset %s: it has a prepared XA transaction", s.Name)
	}
	return prepared.Err()
}

// purge gives back the memory of old binlogs.
func (c *Cluster) purge(ctx context.Context) error {
	for _, s := range c.Servers() {
		if _, err := s.DB.ExecContext(ctx, "FLUSH BINARY LOGS"); err != nil {
			return fmt.Errorf("purge binlogs of %s: %w", s.Name, err)
		}
		end, err := s.BinlogEnd(ctx)
		if err != nil {
			return err
		}
		if s == c.source {
			if err := c.WaitReplicated(ctx); err != nil { // they read the old one
				return err
			}
		}
		if _, err := s.DB.ExecContext(ctx, "PURGE BINARY LOGS TO '"+end.File+"'"); err != nil {
			return fmt.Errorf("purge binlogs of %s: %w", s.Name, err)
		}
	}
	return c.startBinlog(ctx)
}

// pairs returns the rows of a query with two columns.
func (s *Server) pairs(ctx context.Context, query string) (map[string]string, error) {
	rows, err := s.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", s.Name, err)
	}
	defer rows.Close()
	found := make(map[string]string)
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, fmt.Errorf("query %s: %w", s.Name, err)
		}
		found[key] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("query %s: %w", s.Name, err)
	}
	return found, nil
}

// quote returns an identifier for a statement.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// isNoSuchThread recognises the answer to KILL for a session that has ended
// by itself.
func isNoSuchThread(err error) bool {
	const code = 1094
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == code
}
