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

// Write brings the shadow rows of these keys up to date, each in a
// transaction with others or alone. Keys whose rows somebody else has locked
// are left out and returned: they need another call. A row that can't be
// written is an error that names it; then some keys may be up to date.
func (w *Writer) Write(ctx context.Context, keys []ddl.Tuple) (locked []ddl.Tuple, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	err = w.transaction(ctx, keys)
	switch {
	case err == nil:
		return nil, nil
	case mysql.ErrorNumber(err) == mysql.ErrDeadlock || mysql.ConnectionLost(err):
		// Writing the same state twice is the same as writing it once, so a
		// lost reply needs no question.
		if !pause(ctx) {
			return nil, ctx.Err()
		}
		return w.halves(ctx, keys)
	case mysql.ErrorNumber(err) == mysql.ErrLockWaitTimeout && len(keys) == 1:
		return keys, nil
	case len(keys) == 1 && mysql.ErrorNumber(err) == mysql.ErrDuplicateKey:
		return w.resolve(ctx, keys[0])
	case len(keys) == 1:
		return nil, fmt.Errorf("write row %s: %w", w.plan.Key.Describe(keys[0]), err)
	case mysql.ErrorNumber(err) == 0:
		return nil, err
	}
	return w.halves(ctx, keys)
}

// halves writes the keys as two transactions, so that one row's trouble is
// found in a few steps and holds up no other row. A single key is just tried
// again.
func (w *Writer) halves(ctx context.Context, keys []ddl.Tuple) ([]ddl.Tuple, error) {
	if len(keys) == 1 {
		return w.Write(ctx, keys)
	}
	middle := len(keys) / 2
	locked, err := w.Write(ctx, keys[:middle])
	if err != nil {
		return nil, err
	}
	more, err := w.Write(ctx, keys[middle:])
	return append(locked[:len(locked):len(locked)], more...), err
}

func (w *Writer) transaction(ctx context.Context, keys []ddl.Tuple) error {
	return w.server.Transaction(ctx, Step, w.Statements(keys)...)
}

// Statements returns what brings the shadow rows of these keys up to date.
// They belong in one transaction, unless the caller has locked both tables.
//
// Where every unique key of the shadow is one of the original too, REPLACE
// may remove another row with the same unique value: such a row is stale,
// for the original has that value but once, and the change that made it so
// is still to be applied. Where the ALTER adds a unique key, that is not so,
// and a duplicate must be an error.
func (w *Writer) Statements(keys []ddl.Tuple) []string {
	if w.plan.MayDuplicate() {
		return []string{w.plan.DeleteKeys(keys), w.plan.Apply(ddl.Insert, keys)}
	}
	// The plain read in DeleteGone comes second: after the locking read, what
	// was in flight for these keys has ended.
	return []string{w.plan.Apply(ddl.Replace, keys), w.plan.DeleteGone(keys)}
}

// pause waits a few milliseconds before a transaction that lost a deadlock
// is tried again; two of ours would otherwise meet again at once.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(time.Duration(1+rand.IntN(20)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
