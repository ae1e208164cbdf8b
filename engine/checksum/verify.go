// Package checksum compares the shadow with the original while both are in
// use, and changes nothing.
//
// The server digests both sides of a chunk in one statement, and so in one
// snapshot. Where the digests differ it compares the rows themselves. A row
// that differs may only be waiting for its change to be applied, so it is
// looked at again under a lock, after everything that happened before the
// lock has been applied. What differs then is wrong. Read Verifier.Compare.
package checksum

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// ErrDifferent means that the shadow is not what the ALTER makes of the
// original.
var ErrDifferent = errors.New("shadow differs from original")

// mostNamed is up to how many rows an error names.
const mostNamed = 10

// Verifier compares the two tables of a migration. Many goroutines may
// compare ranges at once.
type Verifier struct {
	Server *mysql.Server
	Plan   ddl.Plan
	// Settle returns when everything that was committed before the call has
	// been applied to the shadow.
	Settle func(ctx context.Context) error

	mu    sync.Mutex
	wrong []string
}

// suspect is a row that differed at first sight.
type suspect struct {
	key     ddl.Tuple
	columns string // that differ; empty: one side has no such row
	extra   bool   // only the shadow has it
}

// Compare compares the rows in a range of the original's keys and returns
// their number. What differs is kept for Finish.
func (v *Verifier) Compare(ctx context.Context, r ddl.Range) (rows int64, err error) {
	same, rows, err := v.digests(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("compare tables: %w", err)
	}
	if err := v.converted(ctx, r); err != nil {
		return 0, fmt.Errorf("compare tables: %w", err)
	}
	if same {
		return rows, nil
	}
	if err := v.rows(ctx, v.Plan.Differences(v.Plan.Key.Where(r), false), false); err != nil {
		return 0, fmt.Errorf("compare tables: %w", err)
	}
	if !v.Plan.KeyChanges() {
		if err := v.rows(ctx, v.Plan.Extras(r), true); err != nil {
			return 0, fmt.Errorf("compare tables: %w", err)
		}
	}
	return rows, nil
}

// Finish does what can't be done by ranges, after the last of them, and
// returns ErrDifferent, naming up to ten rows, if any differs for good.
func (v *Verifier) Finish(ctx context.Context) error {
	if v.Plan.KeyChanges() && ctx.Err() == nil {
		if err := v.rows(ctx, v.Plan.Extras(ddl.Range{}), true); err != nil {
			return fmt.Errorf("compare tables: %w", err)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.wrong) > 0 {
		return fmt.Errorf("%w: %s", ErrDifferent, strings.Join(v.wrong[:min(mostNamed, len(v.wrong))], "; "))
	}
	return nil
}

// digests compares the digests of both sides of a range.
func (v *Verifier) digests(ctx context.Context, r ddl.Range) (same bool, rows int64, err error) {
	query, ok := v.Plan.Digests(r)
	if !ok {
		return false, 0, nil
	}
	result, err := v.Server.DB.QueryContext(ctx, mysql.Step("verify", query))
	if err != nil {
		return false, 0, err
	}
	defer result.Close()
	var count [2]int64
	var digest [2][]byte
	for i := 0; result.Next(); i++ {
		if err := result.Scan(&count[i], &digest[i]); err != nil {
			return false, 0, err
		}
	}
	return count[0] == count[1] && bytes.Equal(digest[0], digest[1]), count[0], result.Err()
}

// rows looks for suspects by comparing the rows themselves, and confirms
// them. It looks no further once there are enough to name.
func (v *Verifier) rows(ctx context.Context, query string, extra bool) error {
	suspects, err := v.read(ctx, v.Server.DB, query, extra)
	for err == nil && len(suspects) > 0 && v.found() < mostNamed {
		n := min(len(suspects), mostHeld)
		var wrong []string
		wrong, err = v.confirm(ctx, suspects[:n])
		v.mu.Lock()
		v.wrong = append(v.wrong, wrong...)
		v.mu.Unlock()
		suspects = suspects[n:]
	}
	return err
}

// mostHeld is how many rows are held at once while they are confirmed.
const mostHeld = 500

func (v *Verifier) found() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.wrong)
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (v *Verifier) read(ctx context.Context, q querier, query string, extra bool) ([]suspect, error) {
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

// How confirm goes about it.
const (
	looks     = 3           // how often it looks without locks
	longest   = time.Second // for how long it holds rows at most
	mostTries = 60          // how often it tries to hold them
)

// confirm looks at suspects again. Most were only waiting for a change to be
// applied, and are like their originals once it is. For the rest it holds
// the rows, and the gaps where there is none, so that nothing changes after
// the stream has caught up; what differs then, does.
func (v *Verifier) confirm(ctx context.Context, suspects []suspect) ([]string, error) {
	for range looks {
		if err := v.Settle(ctx); err != nil {
			return nil, err
		}
		var err error
		if suspects, err = v.again(ctx, v.Server.DB, suspects, false); err != nil || len(suspects) == 0 {
			return nil, err
		}
	}
	for try := 1; ; try++ {
		left, err := v.hold(ctx, suspects)
		switch {
		case err == nil:
			var wrong []string
			for _, s := range left {
				wrong = append(wrong, v.describe(s))
			}
			return wrong, nil
		case ctx.Err() != nil || try == mostTries:
			return nil, err
		case !mysql.Retryable(err) && !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		}
	}
}

// hold compares suspects under locks. It gives up after a while: a writer
// that waits for these rows may itself hold a row that the applier waits for.
func (v *Verifier) hold(ctx context.Context, suspects []suspect) ([]suspect, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
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
	lock := "SELECT COUNT(*) FROM " + v.Plan.Original.Name.Quoted() + " WHERE " + v.Plan.Key.In(keysOf(suspects)) + " FOR SHARE"
	if _, err := tx.ExecContext(ctx, mysql.Step("verify", lock)); err != nil {
		return nil, err
	}
	if err := v.Settle(ctx); err != nil {
		return nil, err
	}
	return v.again(ctx, tx, suspects, true)
}

// again compares the rows of suspects and returns those that still differ.
func (v *Verifier) again(ctx context.Context, q querier, suspects []suspect, lock bool) ([]suspect, error) {
	keys := keysOf(suspects)
	left, err := v.read(ctx, q, v.Plan.Differences(v.Plan.Key.In(keys), lock), false)
	if err != nil {
		return nil, err
	}
	extra, err := v.read(ctx, q, v.Plan.ExtrasAmong(keys, lock), true)
	return append(left, extra...), err
}

func keysOf(suspects []suspect) []ddl.Tuple {
	keys := make([]ddl.Tuple, len(suspects))
	for i, s := range suspects {
		keys[i] = s.key
	}
	return keys
}

func (v *Verifier) describe(s suspect) string {
	row := "row " + v.Plan.Key.Describe(s.key)
	switch {
	case s.extra:
		return row + " is in the shadow alone"
	case s.columns == "":
		return row + " is missing in the shadow"
	}
	return row + " differs in " + s.columns
}
