package engine

import (
	"context"
	"fmt"
	"regexp"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// deferIndexes takes the plain secondary indexes off the empty shadow, to be
// built in one pass once it is filled: sorting all keys once is faster than
// finding the place of each.
func (m *migration) deferIndexes(ctx context.Context, shadow ddl.Table) error {
	indexes := ddl.Deferrable(shadow)
	if len(indexes) == 0 {
		return nil
	}
	wanted, err := m.wantsDeferred(ctx)
	if err != nil || !wanted {
		return err
	}
	m.deferred = indexes
	m.wanted = definition(shadow)
	if _, err := m.server.DDL.ExecContext(ctx, mysql.Step("shadow", ddl.DropIndexes(shadow.Name, m.deferred))); err != nil {
		return fmt.Errorf("put off secondary indexes: %w", err)
	}
	return nil
}

func (m *migration) wantsDeferred(ctx context.Context) (bool, error) {
	if c := m.cfg.Copy.DeferIndexes; c != DeferAuto {
		return c == DeferOn, nil
	}
	if len(m.replicas) > 0 {
		return false, nil
	}
	followed, err := m.server.HasReplicas(ctx)
	return !followed, err
}

// buildIndexes builds what deferIndexes has put off, and makes sure that the
// definition is then what it was.
func (m *migration) buildIndexes(ctx context.Context) error {
	if len(m.deferred) == 0 {
		return nil
	}
	if err := m.throttle.Wait(ctx); err != nil {
		return err
	}
	m.progress.begin("building indexes", 0)
	err := m.addIndexes(ctx)
	if mysql.ErrorNumber(err) == mysql.ErrOnlineLogFull {
		// More changed meanwhile than the server can put aside: the changes
		// wait in the binlog instead.
		m.cfg.Log.Warn("too many changes to build the indexes beside them: changes wait until the indexes are built")
		defer m.applier.Resume()
		if err := m.applier.Pause(ctx); err != nil {
			return err
		}
		err = m.addIndexes(ctx)
	}
	if err != nil {
		return fmt.Errorf("build secondary indexes: %w", err)
	}
	now, err := m.server.ReadTable(ctx, m.names.shadow)
	if err != nil {
		return err
	}
	if got := definition(now); got != m.wanted {
		return fmt.Errorf("build secondary indexes: the definition became\n%s\ninstead of\n%s", got, m.wanted)
	}
	return nil
}

func (m *migration) addIndexes(ctx context.Context) error {
	conn, err := m.server.DDL.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Two threads and some memory for the sort; a server that does not know
	// the settings does without.
	if m.server.Version.AtLeast(8, 1) {
		if _, err := conn.ExecContext(ctx, "SET SESSION innodb_ddl_buffer_size = 67108864, SESSION innodb_ddl_threads = 4"); err != nil {
			return err
		}
	}
	statement := mysql.Step("index", ddl.AddIndexes(m.names.shadow, m.deferred))
	m.stream.Expect(statement)
	_, err = conn.ExecContext(ctx, statement)
	return err
}

var autoIncrement = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// definition is what two tables of the same definition have in common.
func definition(t ddl.Table) string { return autoIncrement.ReplaceAllString(t.CreateSQL, "") }
