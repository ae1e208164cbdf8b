package history

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Recorder collects a run's operations and marks while it runs. It is safe
// for use by many goroutines.
type Recorder struct {
	started time.Time

	mu    sync.Mutex
	ops   []Op
	marks []Mark
}

// NewRecorder returns a recorder whose time zero is now.
func NewRecorder() *Recorder { return &Recorder{started: time.Now()} }

// Started returns the recorder's time zero.
func (r *Recorder) Started() time.Time { return r.started }

// Now returns the time since the start of the run, on the monotonic clock.
func (r *Recorder) Now() time.Duration { return time.Since(r.started) }

// Begin records that a client is about to issue op and returns its ID. The
// caller is the client that issues it, so Invoke is never later than the
// moment at which the server can see the operation.
func (r *Recorder) Begin(op Op) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.ID = len(r.ops) + 1
	op.Invoke = r.Now()
	op.Return = 0
	op.Outcome = Unknown
	r.ops = append(r.ops, op)
	return op.ID
}

// End records how the operation with this ID ended. An operation that never
// ends stays Unknown.
func (r *Recorder) End(id int, outcome Outcome, code uint16, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op := &r.ops[id-1]
	op.Return = r.Now()
	op.Outcome, op.Code, op.Error = outcome, code, message
}

// Saw records that a read with this ID found these rows; nil is one that it
// did not find.
func (r *Recorder) Saw(id int, rows map[Key]Row) {
	r.End(id, OK, 0, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops[id-1].Saw = maps.Clone(rows)
}

// Mark records that something happened now. m.At is overwritten.
func (r *Recorder) Mark(m Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.At = r.Now()
	m.Data = maps.Clone(m.Data)
	r.marks = append(r.marks, m)
}

// Ops returns a copy of the operations so far, in order of their IDs.
func (r *Recorder) Ops() []Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ops)
}

// Marks returns a copy of the marks so far, in the order they happened.
func (r *Recorder) Marks() []Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.marks)
}
