package wire

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"rowproof/harness/step"
)

// ErrGateClosed says that a gate can't be reached any more: it was removed,
// or its proxy was closed.
var ErrGateClosed = errors.New("gate is closed")

// Phase is a side of a command.
type Phase uint8

// The phases.
const (
	Before Phase = iota // the server has not seen the command
	After               // the whole reply has come, and the client has seen nothing of it
	// Committed is After, and where the command leaves a transaction open,
	// after the command that ends it.
	Committed
)

func (p Phase) String() string {
	if p == Before {
		return "before"
	}
	return "after"
}

// Action is what a gate does with what it matches.
type Action uint8

// The actions. Phase matters to Hold and Observe only.
const (
	Hold Action = iota
	// CutBefore closes both sides; the server never sees the command.
	CutBefore
	// CutAfter lets the server execute the command, waits for its whole
	// reply, and closes both sides: the client never learns the outcome.
	CutAfter
	// Swallow answers OK and never sends the command. It leaves alone what OK
	// is no answer to: a prepare, a dump, a change of the user.
	Swallow
	// Cut closes both sides of a binlog stream before the event is delivered.
	// In a Rule it is CutBefore.
	Cut
	// Observe only reports. Before: the command is on its way to the server.
	Observe
)

func (a Action) String() string {
	return [...]string{"hold", "cut before", "cut after", "swallow", "cut", "observe"}[a]
}

// Rule says what a gate matches and what it does. All conditions that are set
// must hold.
type Rule struct {
	Name    string // for the record; "" makes one of the rest
	Phase   Phase
	Step    step.Step
	Or      step.Step      // or this one; "": no other
	Pattern *regexp.Regexp // over the text of a query or of a prepared statement
	Role    Role
	Kind    Kind   // "": queries, prepared executions and dumps
	Thread  uint32 // the server's id of the connection; 0: any
	// Occurrence picks the n-th match since the gate was set, from 1; 0 is
	// every match. What another gate cuts or swallows on the same side still
	// counts, but not for an Observe before: it sees what is sent.
	Occurrence int
	Action     Action
}

// EventRule is a Rule for the events of binlog streams.
type EventRule struct {
	Name       string
	Match      func(Event) bool // called by each stream's goroutine; nil matches every event
	Occurrence int
	Action     Action // Hold, Cut or Observe: before the client gets the event
}

// Hit is one match that a gate acted on.
type Hit struct {
	Gate       string
	At         time.Time
	Occurrence int // which match since the gate was set, from 1
	Command    Command
	Reply      *Reply // After; Committed: to the command that ended the transaction
	Event      *Event // of an EventRule; Command is then the dump
}

// maxHits is how many unread hits a gate keeps.
const maxHits = 256

// Gate is one moment on the wire. Its methods are safe for use by many
// goroutines.
type Gate struct {
	proxy *Proxy
	rule  Rule
	event func(Event) bool // nil: a gate for commands

	reached  chan Hit
	released chan struct{} // closed by Release
	closed   chan struct{} // closed when it is removed

	mu      sync.Mutex
	matches int
	hits    int
	open    bool
	gone    bool
}

func newGate(p *Proxy, rule Rule) *Gate {
	return &Gate{
		proxy: p, rule: rule,
		reached:  make(chan Hit, maxHits),
		released: make(chan struct{}),
		closed:   make(chan struct{}),
	}
}

// name gives a rule a name if it has none.
func (r Rule) name() string {
	if r.Name != "" {
		return r.Name
	}
	what := string(r.Step)
	switch {
	case r.Or != "":
		what += " or " + string(r.Or)
	case what != "":
	case r.Pattern != nil:
		what = "/" + r.Pattern.String() + "/"
	case r.Kind != "":
		what = string(r.Kind)
	default:
		what = "any command"
	}
	how := r.Action.String()
	if r.Action == Hold || r.Action == Observe {
		how += " " + r.Phase.String()
	}
	if r.Occurrence > 0 {
		what = fmt.Sprintf("%s #%d", what, r.Occurrence)
	}
	return how + " " + what
}

// phase is the side of the command on which the rule acts.
func (r Rule) phase() Phase {
	switch r.Action {
	case CutAfter:
		return After
	case CutBefore, Cut, Swallow:
		return Before
	default:
		return r.Phase
	}
}

func (r Rule) matches(c Command) bool {
	statement := c.Kind == KindQuery || c.Kind == KindExecute
	switch {
	case r.Kind != "" && r.Kind != c.Kind,
		r.Kind == "" && !statement && c.Kind != KindDump,
		r.Step != "" && r.Step != c.Step && (r.Or == "" || r.Or != c.Step),
		r.Role != AnyRole && r.Role != c.Role,
		r.Thread != 0 && r.Thread != c.ServerThread,
		r.Pattern != nil && (c.Kind == KindDump || !r.Pattern.MatchString(c.SQL)):
		return false
	}
	if r.Action == Swallow {
		return c.Kind != KindPrepare && c.Kind != KindDump && c.Kind != KindUser && c.Kind != KindQuit
	}
	return true
}

// claim counts a match and says whether the gate acts on it.
func (g *Gate) claim() (occurrence int, acts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open || g.gone {
		return 0, false
	}
	g.matches++
	if g.rule.Occurrence != 0 && g.rule.Occurrence != g.matches {
		return 0, false
	}
	return g.matches, true
}

// gateClaim is a gate that acts on what it matched.
type gateClaim struct {
	gate       *Gate
	occurrence int
}

// claims has every gate count a match before the first of them acts, so that
// none depends on the order in which they were set.
func claims(gates []*Gate) []gateClaim {
	var acting []gateClaim
	for _, g := range gates {
		if n, acts := g.claim(); acts {
			acting = append(acting, gateClaim{g, n})
		}
	}
	return acting
}

// acts counts a hit, unless the gate was released or removed after it claimed
// its match.
func (g *Gate) acts() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open || g.gone {
		return false
	}
	g.hits++
	return true
}

// report hands a hit to whoever waits for it.
func (g *Gate) report(h Hit) Hit {
	h.Gate, h.At = g.rule.Name, time.Now()
	select {
	case g.reached <- h:
	default: // nobody reads: Hits still counts it
	}
	return h
}

// Reached delivers every hit once, at the moment the action takes effect; a
// hold begins just before. It keeps 256 unread hits and drops later ones. It
// is never closed: a reader that may wait in vain uses Wait.
func (g *Gate) Reached() <-chan Hit { return g.reached }

// Wait returns the next hit. It takes from the same channel as Reached.
// It returns ErrGateClosed if there will be none.
func (g *Gate) Wait(ctx context.Context) (Hit, error) {
	select {
	case h := <-g.reached:
		return h, nil
	default:
	}
	select {
	case h := <-g.reached:
		return h, nil
	case <-g.closed:
		select {
		case h := <-g.reached: // it came first
			return h, nil
		default:
		}
		return Hit{}, fmt.Errorf("wait for gate %q: %w", g.rule.Name, ErrGateClosed)
	case <-ctx.Done():
		return Hit{}, fmt.Errorf("wait for gate %q: %w", g.rule.Name, context.Cause(ctx))
	}
}

// Release lets everything that the gate holds go on, and opens it for good:
// it no longer acts, nor counts.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.open {
		g.open = true
		close(g.released)
	}
}

// Remove releases the gate and takes it off the proxy.
func (g *Gate) Remove() {
	g.Release()
	g.proxy.removeGate(g)
	g.close()
}

func (g *Gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		g.gone = true
		close(g.closed)
	}
}

// Hits returns how often the gate has acted.
func (g *Gate) Hits() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hits
}
