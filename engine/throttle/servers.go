package throttle

import (
	"context"
	"database/sql"
	"errors"

	"rowproof/engine/mysql"
)

// Servers are the questions that a throttle asks, and the heartbeat.
type Servers struct {
	Status   func(ctx context.Context, variables []string) (map[string]int64, error) // names in small letters
	History  func(ctx context.Context) (int64, error)
	Beat     func(ctx context.Context, token string) error // writes the heartbeat
	Replicas []Replica
}

// Replica reads the newest heartbeat that has arrived; empty before the first.
type Replica struct {
	Name string
	Beat func(ctx context.Context) (token string, err error)
}

// heartbeat is the name of the row in the control table.
const heartbeat = "heartbeat"

// Connect makes the questions to real servers. The control table has the
// columns name and token; its name is quoted.
func Connect(source *mysql.Server, replicas []*mysql.Server, control string) Servers {
	s := Servers{Status: source.GlobalStatus, History: source.HistoryLength}
	s.Beat = func(ctx context.Context, token string) error {
		_, err := source.DDL.ExecContext(ctx, mysql.Step("heartbeat", "REPLACE INTO "+control+" (name, token) VALUES (?, ?)"), heartbeat, token)
		if mysql.Retryable(err) {
			return nil // the next beat may succeed; without one the replicas seem to lag
		}
		return err
	}
	for _, r := range replicas {
		s.Replicas = append(s.Replicas, Replica{Name: r.Address(), Beat: func(ctx context.Context) (token string, err error) {
			err = r.DDL.QueryRowContext(ctx, mysql.Step("heartbeat", "SELECT token FROM "+control+" WHERE name = ?"), heartbeat).Scan(&token)
			if errors.Is(err, sql.ErrNoRows) || mysql.ErrorNumber(err) == mysql.ErrNoSuchTable {
				return "", nil
			}
			return token, err
		}})
	}
	return s
}
