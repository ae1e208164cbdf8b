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
		{fn: fault.WriteWith, params: []string{"settings", "sql"},
			doc: "commits the writes of `sql` as one transaction, in a session of root with other settings than the application's"},
		{fn: fault.WriteAndLoseReply, params: []string{"sql"}, needs: semiSync,
			doc: "sends one write, which must wait for its ACK, and kills its connection meanwhile: the client never learns the outcome, and the write commits when the ACK comes"},
		{fn: fault.Read, params: []string{"keys"},
			doc: "has the application read the rows with these keys, and holds the outcome against what it wrote"},
		{fn: fault.OpenTransaction, params: []string{"label", "sql"},
			doc: "does the writes of `sql` in a transaction that stays open until `commit` or `rollback` of its label; the end of the run rolls it back"},
		{fn: fault.Commit, params: []string{"label"}, doc: "commits the open transaction with this label"},
		{fn: fault.Rollback, params: []string{"label"}, doc: "rolls the open transaction with this label back"},
		{fn: fault.XAPrepare, params: []string{"label", "sql"},
			doc: "does the writes of `sql` in an XA transaction and prepares it: it is in the binlog, no reader sees it, and it outlives its session and the server. The end of the run rolls it back"},
		{fn: fault.XACommit, params: []string{"label"}, doc: "has another session commit the prepared transaction with this label"},
		{fn: fault.XARollback, params: []string{"label"}, doc: "has another session roll it back"},
		{fn: fault.StopIO, needs: aReplica,
			doc: "stops the IO thread of every replica: nothing reaches them, and no ACK comes back"},
		{fn: fault.StartIO, needs: aReplica,
			doc: "starts the IO threads again: the ACKs come"},
		{fn: fault.LockRows, params: []string{"role", "keys"},
			doc: "has another session lock rows of a table, which must be there, and leave its transaction open. Goes on"},
		{fn: fault.LockForRead, params: []string{"role"},
			doc: "has another session take LOCK TABLES … READ: nobody can write the table. Goes on"},
		{fn: fault.LockForWrite, params: []string{"role"},
			doc: "has another session take LOCK TABLES … WRITE: nobody can read or write the table. Goes on"},
		{fn: fault.ReadAndStayOpen, params: []string{"role"},
			doc: "has another session read a table in a transaction that it leaves open: nobody can change the table's definition. Goes on"},
		{fn: fault.OldSnapshot,
			doc: "has another session leave a transaction with a consistent snapshot open: old versions of rows are kept. Goes on"},
		{fn: fault.Alter, params: []string{"role", "clause"},
			doc: "has another session change a table's definition by what stands behind ALTER TABLE t"},
		{fn: fault.RenameAway, params: []string{"role", "to"}, doc: "has another session give a table another name"},
		{fn: fault.RenameBack, params: []string{"from", "role"}, doc: "has another session give it its own name again"},
		{fn: fault.Exec, params: []string{"statement"},
			doc: "sends a statement to the source as root, such as FLUSH BINARY LOGS. It must change no row of the table"},
		{fn: fault.SecondRun,
			doc: "starts the tool once more beside itself, on the same table. Goes on until it ends by itself"},
		{fn: fault.WaitFor, params: []string{"query"}, doc: "waits until a query on the source, as root, gives 1"},
		{fn: fault.WaitBlocked, params: []string{"steps"},
			doc: "waits until a statement of the tool, of one of these steps, waits on the server for a lock or an ACK"},
		{fn: fault.WaitApplied, params: []string{"sql"},
			doc: "waits until the tool's new table holds what the writes of `sql` leave, which another block has made"},
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
