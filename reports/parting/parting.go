// Package parting compares two runs of one scenario and says where they first
// part ways.
//
// Read Compare first. Times differ from run to run, so runs are compared
// along strands: what one client did, the statements of one step, the faults,
// the binlog. Within a strand the n-th event of one run is held against the
// n-th of the other.
package parting

import (
	"cmp"
	"slices"
	"time"

	"rowproof/harness/history"
)

// Event is one thing that happened on a strand.
type Event struct {
	At   time.Duration // -1 is after the run
	Text string
}

// Strand is one kind of events, in order.
type Strand struct {
	Name   string
	Events []Event
}

// Parting is where one strand of two runs differs first.
type Parting struct {
	Strand string
	Number int    // of the event, from 1
	A, B   *Event // nil: this run has no such event
}

// at is when the runs part: with what one of them did and the other did not,
// or did otherwise.
func (p Parting) at() time.Duration {
	const never = time.Duration(1<<63 - 1)
	first := never
	for _, e := range []*Event{p.A, p.B} {
		if e != nil && e.At >= 0 {
			first = min(first, e.At)
		}
	}
	return first
}

// Comparison is where two runs part ways, the first place first, and the
// strands on which they do not.
type Comparison struct {
	Partings []Parting
	Same     []Strand
}

// Compare holds two runs against each other, strand by strand.
func Compare(a, b *history.Record) Comparison {
	var c Comparison
	ofB := map[string]Strand{}
	strandsB := strands(b)
	for _, s := range strandsB {
		ofB[s.Name] = s
	}
	seen := map[string]bool{}
	for _, s := range strands(a) {
		seen[s.Name] = true
		c.compare(s, ofB[s.Name])
	}
	for _, s := range strandsB {
		if !seen[s.Name] {
			c.compare(Strand{Name: s.Name}, s)
		}
	}
	slices.SortStableFunc(c.Partings, func(x, y Parting) int { return cmp.Compare(x.at(), y.at()) })
	return c
}

func (c *Comparison) compare(a, b Strand) {
	for i := range max(len(a.Events), len(b.Events)) {
		p := Parting{Strand: a.Name, Number: i + 1}
		if i < len(a.Events) {
			p.A = &a.Events[i]
		}
		if i < len(b.Events) {
			p.B = &b.Events[i]
		}
		if p.A == nil || p.B == nil || p.A.Text != p.B.Text {
			c.Partings = append(c.Partings, p)
			return
		}
	}
	c.Same = append(c.Same, a)
}
