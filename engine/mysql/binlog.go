package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// BinlogStatus is where the binlog ends, and which schemas it leaves out.
type BinlogStatus struct {
	File  string
	Pos   uint64
	GTIDs string // the executed set

	do, ignore string
}

// BinlogStatus reads where the binlog ends now, in the name of a step. It
// fails if there is no binlog.
//
// SHOW MASTER STATUS got its new name in 8.2 and lost the old one in 8.4:
// https://dev.mysql.com/doc/refman/8.4/en/show-binary-log-status.html
func (s *Server) BinlogStatus(ctx context.Context, step string) (BinlogStatus, error) {
	query := "SHOW BINARY LOG STATUS"
	if !s.Version.AtLeast(8, 2) {
		query = "SHOW MASTER STATUS"
	}
	var b BinlogStatus
	err := s.DB.QueryRowContext(ctx, Step(step, query)).Scan(&b.File, &b.Pos, &b.do, &b.ignore, &b.GTIDs)
	if err != nil {
		return BinlogStatus{}, fmt.Errorf("read binlog position: %w", err)
	}
	return b, nil
}

// Filtered says by which option changes of a schema's tables are kept out of
// the binlog, or nothing if they are not. Rows are filtered by the schema of
// their table, whatever the session's own is:
// https://dev.mysql.com/doc/refman/8.4/en/replication-rules-db-options.html
func (b BinlogStatus) Filtered(schema string) string {
	has := func(list string) bool {
		return slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.EqualFold(s, schema) })
	}
	switch {
	case b.do != "" && !has(b.do):
		return "binlog_do_db=" + b.do
	case has(b.ignore):
		return "binlog_ignore_db=" + b.ignore
	}
	return ""
}

// Variables reads global variables by name; one that the server does not
// have, as it is older or newer, is missing from the result.
func (s *Server) Variables(ctx context.Context, names ...string) (map[string]string, error) {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteString(name)
	}
	rows, err := s.DB.QueryContext(ctx, Step("preflight", "SHOW GLOBAL VARIABLES WHERE Variable_name IN ("+strings.Join(quoted, ", ")+")"))
	if err != nil {
		return nil, fmt.Errorf("read server settings: %w", err)
	}
	defer rows.Close()
	values := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read server settings: %w", err)
		}
		values[name] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read server settings: %w", err)
	}
	return values, nil
}

// Replicates reports whether the server is a replica itself.
//
// SHOW SLAVE STATUS got its new name in 8.0.22 and lost the old one in 8.4,
// so both are in use among the versions that begin with 8.0.
func (s *Server) Replicates(ctx context.Context) (bool, error) {
	return s.anyRow(ctx, "SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
}

// HasReplicas reports whether a replica, or another reader of the binlog that
// has registered as one, follows the server.
func (s *Server) HasReplicas(ctx context.Context) (bool, error) {
	return s.anyRow(ctx, "SHOW REPLICAS", "SHOW SLAVE HOSTS")
}

// anyRow reports whether a query has a row, in its old wording for 8.0.
func (s *Server) anyRow(ctx context.Context, query, old string) (bool, error) {
	if !s.Version.AtLeast(8, 1) {
		query = old
	}
	rows, err := s.DB.QueryContext(ctx, Step("preflight", query))
	if err != nil {
		return false, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}
