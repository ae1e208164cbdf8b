package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rowproof/engine/checkpoint"
	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// controlComment marks a control table as ours. A shadow beside such a table
// was left by a run of ours that died.
const controlComment = "osc control table"

// claim takes the advisory lock for the table, so that no second migration
// of it starts, clears away what a run that died has left, and makes the
// control table.
func (m *migration) claim(ctx context.Context) (err error) {
	name := mysql.LockName("migration", m.names.original.Schema, m.names.original.Name)
	within := time.Duration(0)
	if m.cfg.Checkpoint.Resume {
		within = 10 * time.Second // until the server has noticed that the earlier run is gone
	}
	m.lock, err = m.server.Acquire(ctx, name, within)
	if errors.Is(err, mysql.ErrLocked) {
		return &ddl.Refusal{What: "table " + m.names.original.String(), Why: "another migration of it is running (" + err.Error() + ")",
			Do: "wait for it to end"}
	}
	if err != nil {
		return err
	}
	if err := m.awaitSwap(ctx); err != nil {
		return err
	}
	if m.cfg.Checkpoint.Resume {
		if err := m.loadCheckpoint(ctx); err != nil {
			return err
		}
		m.made = append(m.made, m.names.control, m.names.shadow)
		m.resumable = true
		return nil
	}
	left, err := m.leftovers(ctx)
	if err != nil {
		return err
	}
	for _, table := range left {
		m.cfg.Log.Warn("removing what an earlier run left behind (--resume goes on from it instead)", "table", table.String())
		if err := m.drop(ctx, table); err != nil {
			return err
		}
	}
	query := fmt.Sprintf("CREATE TABLE %s (name VARCHAR(32) NOT NULL PRIMARY KEY, token VARCHAR(64) NOT NULL, %s) ENGINE=InnoDB COMMENT=%s",
		m.names.control.Quoted(), checkpoint.Column, ddl.QuoteString(controlComment))
	if _, err := m.server.DB.ExecContext(ctx, mysql.Step("shadow", query)); err != nil {
		return fmt.Errorf("create control table: %w", err)
	}
	m.made = append(m.made, m.names.control)
	return nil
}

// leftovers returns the tables of a run of ours that died, and refuses
// tables of the same names that are somebody else's.
func (m *migration) leftovers(ctx context.Context) ([]ddl.TableName, error) {
	old, err := m.server.Exists(ctx, m.names.old)
	if err != nil {
		return nil, err
	}
	control, err := m.ourControl(ctx)
	if err != nil {
		return nil, err
	}
	shadow, err := m.server.Exists(ctx, m.names.shadow)
	if err != nil {
		return nil, err
	}
	switch {
	case old && control && !shadow:
		return nil, &ddl.Refusal{What: "table " + m.names.original.String(),
			Why: "an earlier run of osc has swapped the tables and died before its clean-up: that migration is done",
			Do:  fmt.Sprintf("drop %s, and %s when it is no longer needed", m.names.control, m.names.old)}
	case old:
		return nil, refuseName(m.names, m.names.old, ", the name that the old table is to have")
	case shadow && !control:
		return nil, refuseName(m.names, m.names.shadow, ", the name of the shadow table, and was not left by a run of osc")
	case shadow:
		return []ddl.TableName{m.names.shadow, m.names.control}, nil
	case control:
		return []ddl.TableName{m.names.control}, nil
	}
	return nil, nil
}

// ourControl reports whether a control table of ours exists, and refuses a
// table of that name that is somebody else's.
func (m *migration) ourControl(ctx context.Context) (bool, error) {
	exists, err := m.server.Exists(ctx, m.names.control)
	if err != nil || !exists {
		return false, err
	}
	comment, err := m.server.Comment(ctx, m.names.control)
	if err == nil && comment != controlComment {
		err = refuseName(m.names, m.names.control, ", the name of the control table, and was not made by osc")
	}
	return err == nil, err
}

func refuseName(n names, table ddl.TableName, why string) error {
	return &ddl.Refusal{What: "table " + n.original.String(), Why: table.String() + " exists" + why,
		Do: "look at it and drop or rename it"}
}

// makeShadow lets the server make the shadow: an empty copy of the original,
// taken through the ALTER. A resumed run has one.
func (m *migration) makeShadow(ctx context.Context) error {
	if m.resumed != nil {
		return m.takeOver(ctx)
	}
	run := func(what, query string) error {
		_, err := m.server.DDL.ExecContext(ctx, mysql.Step("shadow", query))
		switch {
		case err == nil || mysql.ErrorNumber(err) == 0:
			return err
		case what == "ALTER":
			return &ddl.Refusal{What: "--alter", Why: "the server says: " + mysql.ErrorMessage(err), Do: "mend the ALTER"}
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := run("create shadow table", "CREATE TABLE "+m.names.shadow.Quoted()+" LIKE "+m.names.original.Quoted()); err != nil {
		return err
	}
	m.made = append(m.made, m.names.shadow)
	checks, err := m.nameChecks(ctx, run)
	if err != nil {
		return err
	}
	if err := run("ALTER", "ALTER TABLE "+m.names.shadow.Quoted()+" "+checks.Translate(m.alter)); err != nil {
		return err
	}
	if err := m.planShadow(ctx); err != nil {
		return err
	}
	if err := checks.Kept(m.plan.Shadow); err != nil {
		return err
	}
	if err := m.checkRows(ctx); err != nil {
		return err
	}
	if err := m.deferIndexes(ctx, m.plan.Shadow); err != nil {
		return err
	}
	return m.followServer()
}

// planShadow plans the migration into the shadow that is there.
func (m *migration) planShadow(ctx context.Context) error {
	original, err := m.server.ReadTable(ctx, m.names.original)
	if err != nil {
		return err
	}
	shadow, err := m.server.ReadTable(ctx, m.names.shadow)
	if err != nil {
		return err
	}
	if m.alter.At, err = m.moment(ctx); err != nil {
		return err
	}
	m.plan, err = ddl.NewPlan(original, shadow, m.alter)
	return err
}

// followServer sets the time zone and the sql_mode that the plan needs.
func (m *migration) followServer() error {
	return m.server.Follow(m.plan.Mapping.CrossesZones(), m.plan.Mapping.MakesDates())
}

func (m *migration) drop(ctx context.Context, table ddl.TableName) error {
	_, err := m.server.DB.ExecContext(ctx, mysql.Step("cleanup", "DROP TABLE IF EXISTS "+table.Quoted()))
	if err != nil {
		return fmt.Errorf("drop table %s: %w", table, err)
	}
	return nil
}

// cleanUp ends what runs in the background and removes what the run made for
// itself. After a failure that includes the shadow, unless nobody knows
// whether it is the live table now.
func (m *migration) cleanUp(ctx context.Context, failure error) error {
	if m.background != nil {
		m.background.stop()
		m.summary.Changes = m.applier.Applied()
	}
	if m.lock == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	surplus := m.surplus(failure)
	// The server may be restarting.
	err := mysql.Persist(ctx, func() error { return m.remove(ctx, surplus) })
	err = errors.Join(err, m.lock.Release(ctx))
	m.summary.CleanedUp = err == nil && !m.keep(failure)
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if m.swapped || m.summary.Instant {
		return fmt.Errorf("%w: %s", errNotCleanedUp, text)
	}
	return fmt.Errorf("clean up: %s; the next run removes what is left", text)
}

// remove drops tables that this run made. Where our sessions were lost
// another run may have begun meanwhile, and the tables be its own; or another
// server answers, which has tables of these names and no control table of osc.
func (m *migration) remove(ctx context.Context, tables []ddl.TableName) error {
	if len(tables) == 0 {
		return nil
	}
	if err := m.lock.Hold(ctx); err != nil {
		return err
	}
	if ours, err := m.ourControl(ctx); err != nil || !ours {
		return err
	}
	for _, table := range tables {
		if err := m.drop(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// surplus returns the tables to drop at the end: those that this run made,
// but for the shadow once it is the live table. The control table is the last:
// while it is there, the others can be known for ours.
func (m *migration) surplus(failure error) []ddl.TableName {
	if OutcomeOf(failure) == NeedsPerson {
		return nil
	}
	if m.keep(failure) {
		m.cfg.Log.Info("kept the shadow and the progress: --resume goes on from there", "shadow", m.names.shadow.String())
		return nil
	}
	var tables []ddl.TableName
	switch {
	case m.swapped && m.cfg.DropOld:
		tables = append(tables, m.names.old)
	case m.swapped:
		m.summary.OldTable = m.names.old.String()
	}
	for _, table := range slices.Backward(m.made) {
		if table != m.names.shadow || !m.swapped {
			tables = append(tables, table)
		}
	}
	return tables
}
