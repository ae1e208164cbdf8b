package fault

import "rowproof/harness/wire"

// CutBefore breaks the connection on which the subject sends a statement; the
// server never sees it. A Pick of every statement is cut until the run is
// over.
func CutBefore[S Statement](s S) Fault {
	p := pick(s)
	return wired(gated(p.rule(wire.Before, wire.CutBefore)), p.every, "cut the connection")
}

// CutAfter breaks the connection on which the subject sent a statement once
// the server has executed it: the subject never learns the outcome. A Pick of
// every statement is cut until the run is over.
func CutAfter[S Statement](s S) Fault {
	p := pick(s)
	return wired(gated(p.rule(wire.After, wire.CutAfter)), p.every, "cut the connection")
}
