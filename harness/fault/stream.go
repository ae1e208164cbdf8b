package fault

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"rowproof/harness/step"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Event picks an event of the subject's binlog stream: without more, the
// first of its kind since the run began.
type Event struct {
	name  string
	match func(*Site, wire.Event) bool
	nth   int // 0: the first
}

// RowEvent is the n-th row event of a transaction, counted from 1, if it is
// of the migrated table: from the second on, it lies inside a transaction of
// which the subject has seen a part. A transaction has one for each of its
// statements, or more. Compressed transactions have none.
func RowEvent(n int) Event {
	return Event{name: fmt.Sprintf("row event %d of a transaction", n), match: func(s *Site, e wire.Event) bool {
		return e.Kind == wire.EventRows && e.Nth == n && s.migrates(e)
	}}
}

// NextTransaction is the event that starts a transaction: the stream stands
// between two.
func NextTransaction() Event {
	return Event{name: "the start of a transaction", match: func(_ *Site, e wire.Event) bool { return e.Kind == wire.EventGTID }}
}

// TransactionEnd is the event that ends a transaction.
func TransactionEnd() Event {
	return Event{name: "the end of a transaction", match: func(_ *Site, e wire.Event) bool {
		return e.Kind == wire.EventXID || e.Kind == wire.EventXAPrepare || e.Kind == wire.EventQuery && e.SQL == "COMMIT"
	}}
}

// Rotation is the event at the end of a binlog file that names the next.
func Rotation() Event {
	return Event{name: "rotation", match: func(_ *Site, e wire.Event) bool {
		return e.Kind == wire.EventRotate && e.End > e.Start // the one in the file, not the one at the start of a stream
	}}
}

// Nth picks the n-th of its kind since the run began, counted from 1. An
// event that a new stream brings again counts again.
func (e Event) Nth(n int) Event {
	e.nth = n
	return e
}

func (s *Site) migrates(e wire.Event) bool { return e.Schema == s.Schema && e.Table == s.Table.Name }

// AtEvent acts while the subject's stream is held at an event: it has all
// that comes before.
func AtEvent(e Event, actions ...Action) Fault { return Fault{e.at(wire.Hold), actions} }

// CutStream breaks the connection of the subject's stream before an event is
// delivered.
func CutStream(e Event) Fault { return wired(e.at(wire.Cut), false, "cut the stream") }

// DelayStream delivers an event, and all that follow it, later than it came.
func DelayStream(e Event, by time.Duration) Fault { return AtEvent(e, delay(by)...) }

// HoldStream delivers nothing from an event on: until End, or until the run
// is over. A stream that the subject opens meanwhile is held as well, at the
// next event of the kind.
func HoldStream(e Event) Fault {
	m := e.at(wire.Hold)
	m.arm = func(site *Site) (func(context.Context) error, func()) {
		var seen atomic.Int64
		return armEvent(site, wire.EventRule{Name: m.name, Action: wire.Hold, Match: func(event wire.Event) bool {
			return e.match(site, event) && seen.Add(1) >= int64(e.nth)
		}})
	}
	return wired(m, true, "hold the stream")
}

// WriteAndHold commits writes as one transaction and delivers nothing of it to
// the subject, nor of what follows: its stream stops before the next change of
// the migrated table, until End or until the run is over. A stream that the
// subject opens meanwhile is held as well.
func WriteAndHold(writes ...workload.Write) Action {
	a := lasting("write "+summary(writes)+" and hold the stream before it", func(ctx context.Context, s *Site) (func(context.Context) error, error) {
		gate := s.Proxy.EventGate(wire.EventRule{Name: "hold the stream", Action: wire.Hold, Match: func(e wire.Event) bool {
			return s.migrates(e) && (e.Kind == wire.EventRows || e.Kind == wire.EventPayload)
		}})
		err := s.client().Do(ctx, writes...)
		if err == nil {
			_, err = gate.Wait(ctx)
		}
		if err != nil {
			gate.Remove()
			return nil, err
		}
		return func(context.Context) error { gate.Remove(); return nil }, nil
	})
	a.Writes, a.Steps = writes, []step.Step{step.Dump}
	return a
}

// at is the moment at which the proxy acts on an event.
func (e Event) at(action wire.Action) moment {
	name := "at " + e.name
	if e.nth > 1 {
		name += fmt.Sprintf(" #%d", e.nth)
	}
	return moment{name: name, steps: []step.Step{step.Dump}, arm: func(site *Site) (func(context.Context) error, func()) {
		return armEvent(site, wire.EventRule{
			Name: name, Occurrence: max(e.nth, 1), Action: action,
			Match: func(event wire.Event) bool { return e.match(site, event) },
		})
	}}
}

func armEvent(site *Site, rule wire.EventRule) (wait func(context.Context) error, release func()) {
	gate := site.Proxy.EventGate(rule)
	return func(ctx context.Context) error {
		_, err := gate.Wait(ctx)
		return err
	}, gate.Remove
}
