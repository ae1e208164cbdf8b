package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// GlobalStatus reads status variables that are whole numbers. The names of
// the result are in small letters.
func (s *Server) GlobalStatus(ctx context.Context, names []string) (map[string]int64, error) {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteString(strings.ReplaceAll(name, `\`, `\\`))
	}
	query := "SHOW GLOBAL STATUS WHERE Variable_name IN (" + strings.Join(quoted, ", ") + ")"
	rows, err := s.DDL.QueryContext(ctx, Step("throttle", query))
	if err != nil {
		return nil, fmt.Errorf("read status of %s: %w", s.Address(), err)
	}
	defer rows.Close()
	values := map[string]int64{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, fmt.Errorf("read status of %s: %w", s.Address(), err)
		}
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read status of %s: %s is %q, want a whole number", s.Address(), name, text)
		}
		values[strings.ToLower(name)] = value
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read status of %s: %w", s.Address(), err)
	}
	for _, name := range names {
		if _, ok := values[strings.ToLower(name)]; !ok {
			return nil, fmt.Errorf("read status of %s: there is no status variable %s", s.Address(), name)
		}
	}
	return values, nil
}

// HistoryLength reads the length of InnoDB's history list: the undo logs
// that purge has not removed, since an old snapshot may need them.
func (s *Server) HistoryLength(ctx context.Context) (length int64, err error) {
	query := "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'"
	if err := s.DDL.QueryRowContext(ctx, Step("throttle", query)).Scan(&length); err != nil {
		return 0, fmt.Errorf("read history length of %s: %w", s.Address(), err)
	}
	return length, nil
}
