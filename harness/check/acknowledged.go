package check

import (
	"fmt"

	"rowproof/harness/history"
)

// AcknowledgedWrites asks whether the final rows can be explained by the
// ledger: every acknowledged write happened, no refused one did, and one whose
// reply was lost may have happened as a whole, at any time after it was sent,
// or not at all. What a read saw, or a refusal as duplicate, tells which of
// these it was. Writes that overlap in time may have happened in either order.
// Increments commute and are judged apart (counters.go); the rest is a search
// over the possible orders (search.go), one set of connected keys at a time.
func AcknowledgedWrites(r *history.Record) Result {
	l := newLedger(r)
	if len(l.keys) == 0 {
		return finding(nil, nil)
	}
	if r.Observed.Final == nil {
		return finding(nil, []string{"the final rows of the keys that were written are not recorded"})
	}
	var found []Anomaly
	var unknown []string
	var choices []choice
	for _, part := range l.components() {
		s := newSearch(part, l.initial)
		s.run()
		for _, w := range s.impossible {
			found = append(found, impossible(w))
		}
		if s.gaveUp {
			unknown = append(unknown, fmt.Sprintf("too many possible orders of the writes to row %s and the %d rows connected with it", part.keys[0], len(part.keys)-1))
			continue
		}
		fit := s.fit(r.Observed.Final, r.Table.Renames)
		for _, k := range fit.wrong {
			found = append(found, l.wrongRow(k, fit.want[k], r.Observed.Final[k]))
		}
		choices = append(choices, fit.happened)
	}
	counterAnomalies, counterUnknown := l.counters(choices, r.Observed.Final, r.Table.Renames)
	return finding(append(found, counterAnomalies...), append(unknown, counterUnknown...))
}

func impossible(w *write) Anomaly {
	if w.look {
		return impossibleLook(w)
	}
	return impossibleWrite(w)
}

// impossibleWrite says that the server acknowledged what it should have
// refused, had the rows been what the ledger says.
func impossibleWrite(w *write) Anomaly {
	key := w.changes[0].Key
	for _, c := range w.changes {
		if c.Kind == history.Insert {
			key = c.Key
			break
		}
	}
	return Anomaly{
		Kind: LostWrite,
		Key:  key,
		Text: fmt.Sprintf("Write %d of %s (%s) was acknowledged, although by every order of the writes before it row %s was there already: that row had been lost.",
			w.op.ID, w.op.Client, w.op.Kind, key),
	}
}

// wrongRow says how a final row contradicts the ledger.
func (l *ledger) wrongRow(k history.Key, want, got history.Row) Anomaly {
	a := Anomaly{Kind: LostWrite, Key: k}
	last, touched := l.last[k]
	if !touched {
		a.Text = fmt.Sprintf("Row %s should be %s, as no write to it took effect, and is %s.", k, Show(want), Show(got))
		switch {
		case got == nil:
			a.Kind = LostRow
		case want == nil:
			a.Kind = ResurrectedRow
		default:
			a.Kind = AlteredValue
		}
		return a
	}
	a.Text = fmt.Sprintf("Row %s should be %s after write %d of %s (%s, %s), and is %s.",
		k, Show(want), last.op.ID, last.op.Client, last.op.Kind, last.op.Outcome, Show(got))
	return a
}
