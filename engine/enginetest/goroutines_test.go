package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rowproof/engine"
	"rowproof/engine/control"
	"rowproof/engine/mysql"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

// However a run ends, it leaves no goroutine, no connection, no lock, no
// socket, and no table but the old one.
func TestNothingGoesOn(t *testing.T) {
	cluster, err := topology.Start(t.Context(), topology.Spec{GTID: true, PerformanceSchema: true})
	must(t, err)
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	server := cluster.Source()
	const schema = topology.Database
	execute(t, server.DB, "CREATE DATABASE "+schema)
	for _, c := range []struct {
		name, alter string
		check       bool                                     // without --execute
		end         func(socket string, cancel func()) error // at the cut-over
		want        engine.Outcome
	}{
		{name: "completed", alter: "MODIFY v BIGINT, ADD KEY (v)", want: engine.Completed},
		{name: "checked", alter: "MODIFY v BIGINT", check: true, want: engine.Completed},
		{name: "refused", alter: "DROP COLUMN id", want: engine.Refused},
		{name: "refused by the server", alter: "DROP COLUMN nowhere", want: engine.Refused},
		{name: "a row that does not fit", alter: "MODIFY v TINYINT", want: engine.Aborted},
		{name: "a duplicate", alter: "ADD UNIQUE KEY (w)", want: engine.Aborted},
		{name: "aborted by the operator", alter: "MODIFY v BIGINT", want: engine.Aborted, end: func(socket string, _ func()) error {
			_, err := control.Ask(t.Context(), socket, "abort")
			return err
		}},
		{name: "interrupted", alter: "MODIFY v BIGINT", want: engine.Aborted, end: func(_ string, cancel func()) error {
			cancel()
			return nil
		}},
		{name: "connections killed", alter: "MODIFY v BIGINT", want: engine.Completed, end: func(socket string, _ func()) error {
			killed := killConnections(t.Context(), server)
			_, err := control.Ask(t.Context(), socket, "cut-over")
			return errors.Join(killed, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, server.DB, "DROP TABLE IF EXISTS "+schema+".t, "+schema+"._t_old",
				"CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v INT, w INT)", "INSERT INTO "+schema+".t VALUES (1, 1, 1), (2, 200, 1), (3, 3, 1)")
			before, err := observe.TakeInventory(t.Context(), server.DB, topology.Migrator().User)
			must(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cfg := migration(t, server, c.alter)
			cfg.Execute = !c.check
			if c.end != nil {
				cfg.CutOver.PostponeFile = filepath.Join(t.TempDir(), "postpone")
				var once sync.Once
				cfg.Operator.Progress = func(s engine.Status) {
					if s.Postponed != "" {
						once.Do(func() {
							if err := c.end(cfg.Operator.Socket, cancel); err != nil {
								t.Error(err)
							}
						})
					}
				}
			}
			here := goleak.IgnoreCurrent()
			_, err = engine.Run(ctx, cfg)
			if got := engine.OutcomeOf(err); got != c.want {
				t.Errorf("outcome: got %d (%v), want %d", got, err, c.want)
			}
			if err := goleak.Find(here); err != nil {
				t.Errorf("goroutines: %v", err)
			}
			left, err := observe.Leftovers(t.Context(), server.DB, before, observe.Allowed{
				User: topology.Migrator().User, Tables: []observe.TableRef{{Schema: schema, Name: "_t_old"}},
			})
			must(t, err)
			for _, l := range left {
				t.Errorf("left behind: a %s, %s", l.Kind, l.Name)
			}
			if _, err := os.Stat(cfg.Operator.Socket); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the socket is still there: %v", err)
			}
		})
	}
}

// migration is a migration of the table t straight on a server.
func migration(t *testing.T, server *topology.Server, alter string) engine.Config {
	t.Helper()
	host, text, err := net.SplitHostPort(server.Addr)
	must(t, err)
	port, err := strconv.ParseUint(text, 10, 16)
	must(t, err)
	cfg := engine.Config{Table: "t", Alter: alter, Server: mysql.Config{
		Host: host, Port: uint16(port), User: topology.Migrator().User, Password: topology.Migrator().Password, Schema: topology.Database,
	}}
	cfg.Operator.Socket = filepath.Join(t.TempDir(), "sock")
	cfg.Operator.Every = 10 * time.Millisecond
	return cfg
}

// killConnections kills every connection of the migration's user, by one of
// its own that is not kept.
func killConnections(ctx context.Context, server *topology.Server) error {
	db, err := sql.Open("mysql", server.Config(topology.Root(), "").FormatDSN())
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT ID FROM performance_schema.processlist WHERE USER = ?", topology.Migrator().User)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "KILL "+strconv.Itoa(id)); err != nil {
			return err
		}
	}
	return rows.Err()
}
