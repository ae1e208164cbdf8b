package apply

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// ErrDuplicate means that two rows of the original have the same value under
// a unique key that the ALTER adds or tightens.
var ErrDuplicate = errors.New("duplicate value under a unique key of the new definition")

// probeName is the temporary table of resolve; each session has its own.
const probeName = "_osc_probe"

// rounds bounds how often resolve looks again before it lets other keys go
// first.
const rounds = 16

// resolve writes one key whose row met another row of the shadow under a
// unique key. That other row may be stale: its value may have passed on in
// the original, and the change that did so wait in the queue. So the rows of
// the original that belong to the colliding shadow rows are written again
// together, in one transaction that reads them all under locks. Only if they
// collide among themselves, the original holds the value twice.
func (w *Writer) resolve(ctx context.Context, key ddl.Tuple) (locked []ddl.Tuple, err error) {
	conn, err := w.server.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	probe := ddl.TableName{Schema: w.plan.Original.Name.Schema, Name: probeName}.Quoted()
	defer func() {
		_, drop := conn.ExecContext(context.WithoutCancel(ctx), "DROP TEMPORARY TABLE IF EXISTS "+probe)
		err = errors.Join(err, drop)
	}()
	if _, err := conn.ExecContext(ctx, mysql.Step(Step, w.plan.ProbeCreate(probe))); err != nil {
		return nil, fmt.Errorf("look for duplicates of row %s: %w", w.plan.Key.Describe(key), err)
	}
	group := []ddl.Tuple{key}
	for range rounds {
		var more []ddl.Tuple
		more, err := w.together(ctx, conn, probe, group)
		switch {
		case err == nil && len(more) == 0:
			return nil, nil
		case err == nil:
			group = append(group, more...)
		case errors.Is(err, ErrDuplicate):
			return nil, fmt.Errorf("write row %s: %w", w.plan.Key.Describe(key), err)
		case mysql.ErrorNumber(err) == mysql.ErrDuplicateKey:
			// With a row that came after we looked: look again.
		case mysql.Retryable(err):
			return []ddl.Tuple{key}, nil
		default:
			return nil, fmt.Errorf("write row %s: %w", w.plan.Key.Describe(key), err)
		}
	}
	return []ddl.Tuple{key}, nil
}

// together writes the rows of the group. If shadow rows of further keys are
// in the way, it writes nothing and returns those keys.
func (w *Writer) together(ctx context.Context, conn *sql.Conn, probe string, group []ddl.Tuple) ([]ddl.Tuple, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	run := func(statement string) error {
		_, err := tx.ExecContext(ctx, mysql.Step(Step, statement))
		return err
	}
	if err := run("DELETE FROM " + probe); err != nil {
		return nil, err
	}
	if err := run(w.plan.ProbeFill(probe, group)); err != nil {
		if mysql.ErrorNumber(err) == mysql.ErrDuplicateKey {
			// "Duplicate entry 'x' for key '_osc_probe.name'": the key's own name is name.
			return nil, fmt.Errorf("%w: %s", ErrDuplicate, strings.ReplaceAll(mysql.ErrorMessage(err), probeName+".", ""))
		}
		return nil, err
	}
	for _, unique := range w.plan.Conflicts() {
		more, err := w.others(ctx, tx, w.plan.ProbeHolders(probe, unique), group)
		if err != nil || len(more) > 0 {
			return more, err
		}
	}
	for _, unique := range w.plan.Conflicts() {
		if err := run(w.plan.ProbeDelete(probe, unique)); err != nil {
			return nil, err
		}
	}
	for _, statement := range w.statements(all(group)) {
		if err := run(statement); err != nil {
			return nil, err
		}
	}
	return nil, tx.Commit()
}

// others returns the keys that the query finds beyond those of the group.
func (w *Writer) others(ctx context.Context, tx *sql.Tx, query string, group []ddl.Tuple) ([]ddl.Tuple, error) {
	rows, err := tx.QueryContext(ctx, mysql.Step(Step, query))
	if err != nil {
		return nil, err
	}
	found, err := mysql.ScanTuples(rows, w.plan.Key.BorderTuple)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, key := range group {
		known[key.String()] = true
	}
	var more []ddl.Tuple
	for _, key := range found {
		if !known[key.String()] {
			known[key.String()] = true
			more = append(more, key)
		}
	}
	return more, nil
}
