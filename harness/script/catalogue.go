package script

import (
	"reflect"
	"runtime"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"rowproof/harness/fault"
	"rowproof/harness/topology"
)

// constructor is a function of package fault that a file can call: a block of
// the function's name, written in small letters, whose attributes are the
// parameters.
type constructor struct {
	fn     any      // fault.StopIO
	params []string // the names of the parameters of fn, without steps in a label and without actions
	doc    string   // what it does, for docs/bug-report.md
	needs  need     // of the cluster

	nth  any  // of a moment: the same with a number before all else, for the attribute nth
	then bool // of a moment: its actions are given by Then
}

// need is what a cluster must have for an action to mean anything.
type need uint8

const (
	nothing need = iota
	aReplica
	semiSync
)

// missing says what a cluster lacks.
func (n need) missing(spec topology.Spec) string {
	switch {
	case n == aReplica && spec.Replicas == 0:
		return "replicas = 1 or more"
	case n == semiSync && !spec.SemiSync:
		return "semi_sync = true"
	}
	return ""
}

// moments are the blocks that say when: each holds actions.
func moments() []constructor {
	return []constructor{
		{fn: fault.First, doc: "before the tool starts, once the load runs"},
		{fn: fault.Before, nth: fault.BeforeNth,
			doc: "while the tool's first (or `nth`) statement of a step is held, before the server has seen it"},
		{fn: fault.After, nth: fault.AfterNth,
			doc: "while the answer to the tool's first (or `nth`) statement of a step is held: the server has done it, and the tool doesn't know"},
		{fn: fault.OnceReadOrWaiting, params: []string{"or_waits_at"}, then: true,
			doc: "once the tool's first statement of a step is answered, or the tool is seen waiting on the server in it or in a step of `or_waits_at`; nothing is held"},
	}
}

// actions are the blocks that say what happens.
func actions() []constructor {
	return []constructor{
		{fn: fault.Write, params: []string{"sql"},
			doc: "commits the writes of `sql` as one transaction of the application"},
		{fn: fault.WriteAndApply, params: []string{"sql"},
			doc: "commits the writes of `sql` and waits until the tool has applied them to its new table"},
		{fn: fault.WriteUnacked, params: []string{"sql"}, needs: semiSync,
			doc: "sends each write of `sql` as a transaction of its own and waits until all are in the binlog, where they wait for a replica's ACK: no reader sees them yet. Stop the ACKs first, with `stop_io`"},
		{fn: fault.StopIO, needs: aReplica,
			doc: "stops the IO thread of every replica: nothing reaches them, and no ACK comes back"},
		{fn: fault.StartIO, needs: aReplica,
			doc: "starts the IO threads again: the ACKs come"},
		{fn: fault.End, params: []string{"label"},
			doc: "ends the action with this label that goes on; what is not ended goes on to the end of the run"},
	}
}

// name is the block's name: the function's, in a file's spelling.
func (c constructor) name() string { return snake(c.goName()) }

func (c constructor) goName() string { return goName(c.fn) }

func goName(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	name = strings.TrimSuffix(name, "-fm") // of a method
	return name[strings.LastIndexByte(name, '.')+1:]
}

// labelled reports whether the block's label is a step.
func (c constructor) labelled() bool {
	t := reflect.TypeOf(c.fn)
	return t.NumIn() > 0 && t.In(0) == stepType
}

func (c constructor) header() hcl.BlockHeaderSchema {
	h := hcl.BlockHeaderSchema{Type: c.name()}
	if c.labelled() {
		h.LabelNames = []string{"step"}
	}
	return h
}

// snake writes a Go name as a file does: StopIO is stop_io.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, c := range runes {
		if unicode.IsUpper(c) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
