package fault

import "rowproof/harness/wire"

// Swallow answers OK to a statement of the subject that the server never
// sees: a protection of the tool's own is off, and the tool doesn't know. A
// Pick of every statement is swallowed until the run is over.
func Swallow[S Statement](s S) Fault {
	p := pick(s)
	return wired(gated(p.rule(wire.Before, wire.Swallow)), p.every, "swallow it")
}
