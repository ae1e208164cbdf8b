// Package timeline lays what happened in a run on one time axis: a lane for
// each client, for the stages of a commit on the source, for the replicas,
// for each connection of the subject, for its binlog stream, and for the
// faults.
//
// Read Timeline first, then New. The package draws nothing; it is a pure
// function of the record, so that a page, a bug report and a comparison of
// two runs show the same things under the same names.
package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rowproof/harness/history"
)

// Timeline is a run on one time axis.
type Timeline struct {
	Lanes []Lane
	Items []Item // by lane, then by time
	End   time.Duration
}

// Lane is one line of the picture.
type Lane struct {
	Group string // faults, application, source, replica, tool, stream
	Name  string
}

func (l Lane) String() string { return l.Group + ": " + l.Name }

// Place is the lane without the uses of a connection.
func (l Lane) Place() string {
	if strings.HasSuffix(l.Group, groupTool) {
		l.Name, _, _ = strings.Cut(l.Name, ":")
	}
	return l.String()
}

// Kind says what an item is, and so how it is drawn.
type Kind string

// The kinds of items.
const (
	Fault     Kind = "fault"     // a fault fired or goes on
	Write     Kind = "write"     // a client's write, acknowledged
	Refused   Kind = "refused"   // an operation that the server refused
	Unsure    Kind = "unsure"    // an operation whose reply was lost
	Read      Kind = "read"      // a client's read
	Binlogged Kind = "binlogged" // a transaction is in the source's binlog
	Waiting   Kind = "waiting"   // it waits there for an ACK
	Visible   Kind = "visible"   // readers see it
	Server    Kind = "server"    // a server or a thread of it changed
	Process   Kind = "process"   // the subject runs
	Step      Kind = "step"      // a statement of a step, until its reply
	Held      Kind = "held"      // a gate holds the subject
	Statement Kind = "statement" // a statement without a step
	Stream    Kind = "stream"    // an event passed to the subject
	Other     Kind = "other"     // a mark of a name that this version doesn't know
)

// Item is a moment or a span on a lane.
type Item struct {
	Lane     int
	From, To time.Duration // To is From for a moment
	Kind     Kind
	Label    string // short: "INSERT 1000", "range-read"
	Text     string // the statement, whole if it was recorded so
	Note     string // what came of it
	Row      bool   // it belongs to the history of the row
	Turn     bool   // a turning point of the run: a fault, the attach, the swap
	Open     bool   // it had not ended when the run did
}

// Input is what a timeline is made from.
type Input struct {
	Record     *history.Record
	Statements []history.Statement // what the subject sent, if that was stored
	Key        history.Key         // the row whose history is wanted; "" is none
}

// New lays a run on a time axis.
func New(in Input) Timeline {
	b := &builder{in: in, row: newRow(in.Record, in.Key), end: end(in.Record), lanes: map[Lane]int{}, log: logged(in.Statements)}
	b.addFaults()
	b.addClients()
	b.addSource()
	b.addReplicas()
	b.addSubject()
	b.addStream()
	b.addOthers()
	slices.SortStableFunc(b.items, func(x, y Item) int {
		return cmp.Or(x.Lane-y.Lane, cmp.Compare(x.From, y.From), cmp.Compare(x.Label, y.Label))
	})
	return Timeline{Lanes: b.names, Items: b.items, End: b.end}
}

// History returns the numbers of the items of the row's history and of the
// turning points, in the order in which they began.
func (t Timeline) History() []int {
	var items []int
	for n, i := range t.Items {
		if i.Row || i.Turn {
			items = append(items, n)
		}
	}
	slices.SortStableFunc(items, func(x, y int) int { return cmp.Compare(t.Items[x].From, t.Items[y].From) })
	return items
}

// builder collects lanes and items.
type builder struct {
	in    Input
	row   row
	end   time.Duration
	lanes map[Lane]int
	names []Lane
	items []Item
	log   map[string][]history.Statement // by connection and step, in order
}

func (b *builder) lane(group, name string) int {
	l := Lane{group, name}
	i, ok := b.lanes[l]
	if !ok {
		i = len(b.names)
		b.lanes[l] = i
		b.names = append(b.names, l)
	}
	return i
}

func (b *builder) add(i Item) {
	i.To = max(i.To, i.From)
	b.items = append(b.items, i)
}

// end is the end of the last thing that was recorded.
func end(r *history.Record) time.Duration {
	last := r.Exit.At
	for _, op := range r.Ops {
		last = max(last, op.Invoke, op.Return)
	}
	for _, m := range r.Marks {
		last = max(last, m.At)
	}
	return last
}

// since is a wall-clock time as a time of the run.
func (b *builder) since(t time.Time) time.Duration {
	return min(max(t.Sub(b.in.Record.Started), 0), b.end)
}
