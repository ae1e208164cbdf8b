package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rowproof/fixtures"
	"rowproof/harness/bench/figures"
	"rowproof/harness/topology"
)

// site is the server and the table.
type site struct {
	cluster *topology.Cluster
	server  *topology.Server
	table   fixtures.Table
	indexes []string // beside the table's own, now
}

// moreIndexes are what make the table one with four secondary indexes.
func moreIndexes() []string {
	return []string{"KEY `c` (`c`)", "KEY `pad` (`pad`)", "KEY `k_c` (`k`, `c`(20))"}
}

// serverOptions make the server one that does not starve. What decides how
// safe its data is stays as MySQL ships it, and the data lies on a disk. The
// performance schema is on because gh-ost and spirit want it.
func serverOptions() []string {
	return []string{
		"--innodb-buffer-pool-size=2G", "--innodb-redo-log-capacity=1G", "--innodb-log-buffer-size=16M",
		"--innodb-doublewrite=ON", "--max-connections=300",
		// A reader of the binlog that is held must not be thrown out.
		"--net-write-timeout=3600",
	}
}

func openSite(ctx context.Context, rows int64) (*site, error) {
	c, err := topology.Start(ctx, topology.Spec{
		GTID: true, PerformanceSchema: true, Disk: true, Options: serverOptions(),
	})
	if err != nil {
		return nil, err
	}
	s := &site{cluster: c, server: c.Source(), table: fixtures.Sbtest(rows)}
	if err := s.fill(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *site) fill(ctx context.Context) error {
	if _, err := s.server.DB.ExecContext(ctx, "CREATE DATABASE "+quote(topology.Database)); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	if err := s.table.Load(ctx, s.server.DB, topology.Database); err != nil {
		return err
	}
	// The contenders rebuild it; so is what the first of them finds.
	return s.exec(ctx, "ALTER TABLE "+s.name()+" FORCE")
}

func (s *site) close() error { return s.cluster.Close() }

func (s *site) exec(ctx context.Context, statement string) error {
	if _, err := s.server.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("execute %.40s: %w", statement, err)
	}
	return nil
}

// name is the table's name for a statement.
func (s *site) name() string { return quote(topology.Database) + "." + quote(s.table.Name) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (s *site) describeServer() figures.Server {
	return figures.Server{Version: s.server.Version, Options: serverOptions()}
}

func (s *site) describeTable(ctx context.Context) (figures.Table, error) {
	t := figures.Table{Name: s.table.Name, Rows: s.table.Rows}
	if err := s.exec(ctx, "ANALYZE TABLE "+s.name()); err != nil {
		return t, err
	}
	err := s.server.DB.QueryRowContext(ctx,
		"SELECT FILE_SIZE FROM information_schema.INNODB_TABLESPACES WHERE NAME = ?", topology.Database+"/"+s.table.Name).Scan(&t.Bytes)
	if err != nil {
		return t, fmt.Errorf("read the size of the table: %w", err)
	}
	return t, nil
}

// tableID returns what the server calls the table; a rebuilt one is another.
func (s *site) tableID(ctx context.Context) (id int64, err error) {
	err = s.server.DB.QueryRowContext(ctx,
		"SELECT TABLE_ID FROM information_schema.INNODB_TABLES WHERE NAME = ?", topology.Database+"/"+s.table.Name).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("read the table's id: %w", err)
	}
	return id, nil
}

// index gives the table these indexes beside its own, and no others.
func (s *site) index(ctx context.Context, wanted []string) error {
	var changes []string
	for _, have := range s.indexes {
		if !slices.Contains(wanted, have) {
			changes = append(changes, "DROP "+strings.Join(strings.Fields(have)[:2], " "))
		}
	}
	for _, want := range wanted {
		if !slices.Contains(s.indexes, want) {
			changes = append(changes, "ADD "+want)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if err := s.exec(ctx, "ALTER TABLE "+s.name()+" "+strings.Join(changes, ", ")); err != nil {
		return err
	}
	s.indexes = wanted
	return s.exec(ctx, "ALTER TABLE "+s.name()+" FORCE")
}

// reset brings the site to where every run begins: the table with its rows
// and nothing else, a binlog that is empty, and a server that has nothing to
// catch up with.
func (s *site) reset(ctx context.Context) error {
	if err := s.sweep(ctx); err != nil {
		return err
	}
	// What the load has added.
	if err := s.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE `id` > %d", s.name(), s.table.Rows)); err != nil {
		return err
	}
	if err := s.purgeBinlogs(ctx); err != nil {
		return err
	}
	return s.calm(ctx)
}

// sweep drops what a contender left in the database.
func (s *site) sweep(ctx context.Context) error {
	triggers, err := s.names(ctx, "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ?")
	if err != nil {
		return err
	}
	for _, t := range triggers {
		if err := s.exec(ctx, "DROP TRIGGER "+quote(topology.Database)+"."+quote(t)); err != nil {
			return err
		}
	}
	tables, err := s.names(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?")
	if err != nil {
		return err
	}
	if !slices.Contains(tables, s.table.Name) {
		return fmt.Errorf("table %s is gone", s.table.Name)
	}
	for _, t := range tables {
		if t == s.table.Name {
			continue
		}
		if err := s.exec(ctx, "DROP TABLE "+quote(topology.Database)+"."+quote(t)); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) names(ctx context.Context, query string) ([]string, error) {
	rows, err := s.server.DB.QueryContext(ctx, query, topology.Database)
	if err != nil {
		return nil, fmt.Errorf("list the database: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list the database: %w", err)
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// purgeBinlogs removes all binlogs but a new one: every copy writes the whole
// table into them, and they lie in memory.
func (s *site) purgeBinlogs(ctx context.Context) error {
	if err := s.exec(ctx, "FLUSH BINARY LOGS"); err != nil {
		return err
	}
	rows, err := s.server.DB.QueryContext(ctx, "SHOW BINARY LOGS")
	if err != nil {
		return fmt.Errorf("list binlogs: %w", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("list binlogs: %w", err)
	}
	last := ""
	into := make([]any, len(columns))
	into[0] = &last
	for i := 1; i < len(into); i++ {
		into[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("list binlogs: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("list binlogs: %w", err)
	}
	return s.exec(ctx, "PURGE BINARY LOGS TO '"+last+"'")
}

// The server is calm with fewer than these; it never has none.
const (
	calmHistory = 1000
	calmDirty   = 200
	calmEvery   = 100 * time.Millisecond
	calmTimeout = 2 * time.Minute
)

// calm waits until the server has written and purged what the last run left
// behind, which the next one would pay for.
func (s *site) calm(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, calmTimeout)
	defer cancel()
	if err := s.exec(ctx, "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, GLOBAL innodb_max_dirty_pages_pct = 0"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.exec(context.WithoutCancel(ctx),
			"SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT, GLOBAL innodb_max_dirty_pages_pct_lwm = DEFAULT"))
	}()
	tick := time.NewTicker(calmEvery)
	defer tick.Stop()
	for {
		var history, dirty int64
		err := s.server.DB.QueryRowContext(ctx, `SELECT
			(SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'),
			(SELECT MODIFIED_DATABASE_PAGES FROM information_schema.INNODB_BUFFER_POOL_STATS LIMIT 1)`).Scan(&history, &dirty)
		if err != nil {
			return fmt.Errorf("wait for the server to be calm: %w", err)
		}
		if history < calmHistory && dirty < calmDirty {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the server to be calm: %w", context.Cause(ctx))
		}
	}
}
