package apply

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"rowproof/engine/ddl"
	"rowproof/engine/mysql"
)

// Step is the name that the statements of this package carry.
const Step = "apply"

// Writer copies the present state of given keys from the original to the
// shadow.
type Writer struct {
	server *mysql.Server
	plan   ddl.Plan
}

// NewWriter returns a writer for one migration.
func NewWriter(s *mysql.Server, plan ddl.Plan) *Writer { return &Writer{server: s, plan: plan} }

// Patience says what to do about a row of the original that is locked.
type Patience int

// Wait stands in line for a second, and holds up all keys of the transaction
// meanwhile. NoWait passes by.
const (
	Wait Patience = iota
	NoWait
)

// change is a key whose row may have changed.
type change struct {
	key  ddl.Tuple
	gone bool // the row may be gone
}

// Write brings the shadow rows of these keys up to date, each in a
// transaction with others or alone. Keys whose rows somebody else has locked
// are left out and returned: they need another call. A row that can't be
// written is an error that names it; then some keys may be up to date.
func (w *Writer) Write(ctx context.Context, keys []ddl.Tuple) (locked []ddl.Tuple, err error) {
	left, err := w.write(ctx, Wait, all(keys))
	return tuples(left), err
}

// all are the keys as changes of which nothing is known.
func all(keys []ddl.Tuple) []change {
	list := make([]change, len(keys))
	for i, key := range keys {
		list[i] = change{key, true}
	}
	return list
}

func (w *Writer) write(ctx context.Context, wait Patience, list []change) (locked []change, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	err = w.transaction(ctx, wait, list)
	switch number := mysql.ErrorNumber(err); {
	case err == nil:
		return nil, nil
	case number == mysql.ErrDeadlock || mysql.ConnectionLost(err):
		// Writing the same state twice is the same as writing it once, so a
		// lost reply needs no question.
		if !pause(ctx, err) {
			return nil, ctx.Err()
		}
		return w.halves(ctx, wait, list)
	case (number == mysql.ErrLockWaitTimeout || number == mysql.ErrLockNowait) && len(list) == 1:
		return list, nil
	case number == mysql.ErrLockWaitTimeout || number == mysql.ErrLockNowait:
		return w.around(ctx, list)
	case len(list) == 1 && number == mysql.ErrDuplicateKey:
		left, err := w.resolve(ctx, list[0].key)
		if len(left) > 0 {
			return list, err
		}
		return nil, err
	case len(list) == 1:
		return nil, w.misfit(ctx, list[0].key, err)
	case number == 0:
		return nil, err
	}
	return w.halves(ctx, wait, list)
}

// halves writes the keys as two transactions, so that one row's trouble is
// found in a few steps and holds up no other row. A single key is just tried
// again.
func (w *Writer) halves(ctx context.Context, wait Patience, list []change) ([]change, error) {
	if len(list) == 1 {
		return w.write(ctx, wait, list)
	}
	middle := len(list) / 2
	locked, err := w.write(ctx, wait, list[:middle])
	if err != nil {
		return nil, err
	}
	more, err := w.write(ctx, wait, list[middle:])
	return append(locked[:len(locked):len(locked)], more...), err
}

// around writes the keys that are not locked, and returns the others. If
// none is any more, or it is no row of the original that was waited for, the
// keys are tried again in halves.
func (w *Writer) around(ctx context.Context, list []change) ([]change, error) {
	free, locked, err := w.part(ctx, list)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case mysql.Retryable(err):
		return list, nil
	case err != nil:
		return nil, fmt.Errorf("look for locked rows: %w", err)
	case len(locked) == 0:
		return w.halves(ctx, NoWait, list)
	}
	more, err := w.write(ctx, NoWait, free)
	return append(locked, more...), err
}

func (w *Writer) transaction(ctx context.Context, wait Patience, list []change) error {
	statements := w.statements(list)
	if wait == NoWait {
		for i, s := range statements {
			statements[i] = ddl.NoWait(s)
		}
	}
	return w.server.Transaction(ctx, Step, statements...)
}

// statements are what brings the shadow rows of these keys up to date. They
// belong in one transaction.
//
// Where every unique key of the shadow is one of the original too, REPLACE
// may remove another row with the same unique value: such a row is stale,
// for the original has that value but once, and the change that made it so
// is still to be applied. Where the ALTER adds a unique key, that is not so,
// and a duplicate must be an error.
//
// A row that was inserted, or updated under its key, is written by REPLACE
// alone. Should it be gone by now, then so the binlog says behind that
// change, and the key comes again.
func (w *Writer) statements(list []change) []string {
	keys := tuples(list)
	if w.plan.MayDuplicate() {
		return []string{w.plan.DeleteKeys(keys), w.plan.Apply(ddl.Insert, keys)}
	}
	statements := []string{w.plan.Apply(ddl.Replace, keys)}
	var gone []ddl.Tuple
	for _, c := range list {
		if c.gone {
			gone = append(gone, c.key)
		}
	}
	if len(gone) > 0 {
		// The plain read in DeleteGone comes second: after the locking read,
		// what was in flight for these keys has ended.
		statements = append(statements, w.plan.DeleteGone(gone))
	}
	return statements
}

func tuples(list []change) []ddl.Tuple {
	keys := make([]ddl.Tuple, len(list))
	for i, c := range list {
		keys[i] = c.key
	}
	return keys
}

// pause waits a few milliseconds before a transaction that lost a deadlock
// is tried again; two of ours would otherwise meet again at once. A server that
// was lost is given longer to come back.
func pause(ctx context.Context, err error) bool {
	longest := 20
	if mysql.ConnectionLost(err) {
		longest = 500
	}
	return mysql.Wait(ctx, time.Duration(1+rand.IntN(longest))*time.Millisecond)
}
