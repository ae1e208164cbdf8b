// Package checksum compares the shadow with the original while both are in
// use, and changes nothing.
//
// The server compares the rows themselves, column by column, in one
// statement per chunk, so both sides are read in one snapshot. A row that
// differs may only be waiting for its change to be applied, so it is looked
// at again under a lock, after everything that happened before the lock has
// been applied. What differs then is wrong. Read Verifier.Verify.
package checksum

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// ErrDifferent means that the shadow is not what the ALTER makes of the
// original.
var ErrDifferent = errors.New("shadow differs from original")

// Verifier compares the two tables of a migration.
type Verifier struct {
	Server *mysql.Server
	Plan   ddl.Plan
	// Next returns the next range of keys, in order, and false after the last.
	Next func(ctx context.Context) (ddl.Range, bool, error)
	// Settle returns when everything that was committed before the call has
	// been applied to the shadow.
	Settle func(ctx context.Context) error
	// Done, if set, hears of each range that was compared.
	Done func()
}

// suspect is a row that differed at first sight.
type suspect struct {
	key     ddl.Tuple
	columns string // that differ; empty: one side has no such row
	extra   bool   // only the shadow has it
}

// Verify compares all rows. It returns ErrDifferent, naming up to ten rows,
// if any differs for good.
func (v Verifier) Verify(ctx context.Context) error {
	var wrong []string
	compare := func(query string, extra bool) error {
		suspects, err := v.read(ctx, v.Server.DB, query, extra)
		if err != nil {
			return err
		}
		for len(suspects) > 0 && len(wrong) < 10 {
			n := min(len(suspects), 500)
			more, err := v.confirm(ctx, suspects[:n])
			if err != nil {
				return err
			}
			wrong = append(wrong, more...)
			suspects = suspects[n:]
		}
		return nil
	}
	for {
		r, ok, err := v.Next(ctx)
		if err != nil {
			return err
		}
		if !ok || len(wrong) >= 10 {
			break
		}
		if err := compare(v.Plan.Differences(v.Plan.Key.Where(r), false), false); err != nil {
			return fmt.Errorf("compare tables: %w", err)
		}
		if !v.Plan.KeyChanges() {
			if err := compare(v.Plan.Extras(r), true); err != nil {
				return fmt.Errorf("compare tables: %w", err)
			}
		}
		if v.Done != nil {
			v.Done()
		}
	}
	if v.Plan.KeyChanges() {
		if err := compare(v.Plan.Extras(ddl.Range{}), true); err != nil {
			return fmt.Errorf("compare tables: %w", err)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%w: %s", ErrDifferent, strings.Join(wrong[:min(10, len(wrong))], "; "))
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (v Verifier) read(ctx context.Context, q querier, query string, extra bool) ([]suspect, error) {
	rows, err := q.QueryContext(ctx, mysql.Step("verify", query))
	if err != nil {
		return nil, err
	}
	n := len(v.Plan.Key.Pairs)
	return mysql.ScanTuples(rows, func(text [][]byte) (suspect, error) {
		key, err := v.Plan.Key.BorderTuple(text[:n])
		s := suspect{key: key, extra: extra}
		if !extra {
			s.columns = string(text[n])
		}
		return s, err
	})
}

// confirm looks at suspects again. It holds their rows, and the gaps where
// there is none, so that nothing changes after the stream has caught up.
func (v Verifier) confirm(ctx context.Context, suspects []suspect) ([]string, error) {
	for {
		wrong, err := v.confirmOnce(ctx, suspects)
		if err == nil || ctx.Err() != nil || !mysql.Retryable(err) {
			return wrong, err
		}
	}
}

func (v Verifier) confirmOnce(ctx context.Context, suspects []suspect) (wrong []string, err error) {
	conn, err := v.Server.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// Only this isolation locks the gap of an absent row.
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	keys := make([]ddl.Tuple, len(suspects))
	for i, s := range suspects {
		keys[i] = s.key
	}
	hold := "SELECT COUNT(*) FROM " + v.Plan.Original.Name.Quoted() + " WHERE " + v.Plan.Key.In(keys) + " FOR SHARE"
	if _, err := tx.ExecContext(ctx, mysql.Step("verify", hold)); err != nil {
		return nil, err
	}
	if err := v.Settle(ctx); err != nil {
		return nil, err
	}
	left, err := v.read(ctx, tx, v.Plan.Differences(v.Plan.Key.In(keys), true), false)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		extra, err := v.read(ctx, tx, v.Plan.Extra(key), true)
		if err != nil {
			return nil, err
		}
		left = append(left, extra...)
	}
	for _, s := range left {
		wrong = append(wrong, v.describe(s))
	}
	return wrong, nil
}

func (v Verifier) describe(s suspect) string {
	row := "row " + v.Plan.Key.Describe(s.key)
	switch {
	case s.extra:
		return row + " is in the shadow alone"
	case s.columns == "":
		return row + " is missing in the shadow"
	}
	return row + " differs in " + s.columns
}
