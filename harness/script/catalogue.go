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
	params []string // the names of the parameters of fn, without what a label says and without actions
	doc    string   // what it does, for docs/bug-report.md
	needs  need     // of the cluster

	every bool // of a moment: it can be at every statement, and then goes on
	stays bool // of a moment: what it does by itself goes on
}

// need is what a cluster must have for an action to mean anything.
type need uint8

const (
	nothing need = iota
	aReplica
	semiSync
	performanceSchema
)

// missing says what a cluster lacks.
func (n need) missing(spec topology.Spec) string {
	switch {
	case n == aReplica && spec.Replicas == 0:
		return "replicas = 1 or more"
	case n == semiSync && !spec.SemiSync:
		return "semi_sync = true"
	case n == performanceSchema && !spec.PerformanceSchema:
		return "performance_schema = true"
	}
	return ""
}

// moments are the blocks that say when: each holds actions.
func moments() []constructor {
	return []constructor{
		{fn: fault.First, doc: "before the tool starts, once the load runs"},
		{fn: fault.Before[fault.Pick], doc: "while a statement of the tool is held, before the server has seen it"},
		{fn: fault.After[fault.Pick],
			doc: "while the answer to a statement of the tool is held: the server has done it, and the tool doesn't know"},
		{fn: fault.OnceSent[fault.Pick], doc: "once the server has been sent a statement of the tool; nothing is held"},
		{fn: fault.OnceAnswered[fault.Pick], doc: "once the server has answered a statement of the tool; nothing is held"},
		{fn: fault.OnceReadOrWaiting, params: []string{"or_waits_at"},
			doc: "once the tool's first statement of a step is answered, or the tool is seen waiting on the server in it or in a step of `or_waits_at`; nothing is held"},
		{fn: fault.AtEvent, doc: "while the tool's binlog stream is held at an event: it has all that comes before"},
		{fn: fault.CutBefore[fault.Pick], every: true,
			doc: "when the connection was broken on which the tool sends a statement, which the server never sees"},
		{fn: fault.CutAfter[fault.Pick], every: true,
			doc: "when the connection was broken on which the tool sent a statement, once the server has executed it"},
		{fn: fault.Swallow[fault.Pick], every: true,
			doc: "when a statement of the tool was answered with OK that the server never sees: a protection of the tool's own is off"},
		{fn: fault.Delay[fault.Pick], params: []string{"by"}, doc: "when a statement of the tool is sent, later than the tool did"},
		{fn: fault.DelayReply[fault.Pick], params: []string{"by"}, doc: "when the answer to a statement of the tool is delivered, later than it came"},
		{fn: fault.CutStream, doc: "when the connection of the tool's binlog stream was broken before an event"},
		{fn: fault.DelayStream, params: []string{"by"}, doc: "when an event of the tool's binlog stream is delivered, and all that follow it, later than it came"},
		{fn: fault.HoldStream, stays: true,
			doc: "when the tool's binlog stream stops before an event. Goes on, also for a stream that the tool opens meanwhile"},
	}
}

// actions are the blocks that say what happens.
func actions() []constructor {
	return []constructor{
		{fn: fault.Write, params: []string{"sql"},
			doc: "commits the writes of `sql` as one transaction of the application"},
		{fn: fault.WriteAndApply, params: []string{"sql"},
			doc: "commits the writes of `sql` and waits until the tool has applied them to its new table"},
		{fn: fault.WriteOrWait, params: []string{"sql"},
			doc: "sends the writes of `sql` as one transaction, and goes on once it is committed or waits for the lock of a table"},
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
		{fn: fault.WriteAndPass, params: []string{"marker", "sql"},
			doc: "commits the writes of `sql` as one transaction and waits until the tool is done with their events, applied or dropped: until it has applied the write `marker`, which comes behind them and which it can't drop"},
		{fn: fault.WriteAndHold, params: []string{"sql"},
			doc: "commits the writes of `sql` as one transaction and stops the tool's binlog stream before it. Goes on, also for a stream that the tool opens meanwhile"},
		{fn: fault.StopIO, needs: aReplica,
			doc: "stops the IO thread of every replica: nothing reaches them, and no ACK comes back. Goes on"},
		{fn: fault.StartIO, needs: aReplica, doc: "ends `stop_io`: the ACKs come"},
		{fn: fault.StopSQL, needs: aReplica,
			doc: "stops the SQL thread of every replica: they receive, and give ACKs, and apply nothing. Goes on"},
		{fn: fault.StartSQL, needs: aReplica, doc: "ends `stop_sql`"},
		{fn: fault.FallBackToAsync, needs: semiSync,
			doc: "lets the source give up waiting for ACKs: from then on writes commit at once, and reach no replica. No write may be waiting already. Goes on"},
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
		{fn: fault.WaitApplyOrBlocked, params: []string{"sql"},
			doc: "waits until the tool's stream has brought the write of `sql`, which another block makes, and a statement of the step apply that it sent since is answered, or waits on the server for a lock or an ACK"},
		{fn: fault.WaitApplyRefused, params: []string{"sql"},
			doc: "waits until the tool's stream has brought the write of `sql`, which another block makes, and the server has refused a statement of the step apply that it sent since"},
		{fn: fault.WithholdAcks, needs: semiSync,
			doc: "has a replica of our own join the source, which then wants its ACK too; it gives none, except by `ack_up_to` and `ack_all`. Goes on"},
		{fn: fault.AckUpTo, params: []string{"sql"}, needs: semiSync,
			doc: "gives the ACKs up to a write that `write_unacked` has sent, named by the same statement"},
		{fn: fault.AckAll, needs: semiSync, doc: "gives all ACKs that are wanted now; later ones are withheld"},
		{fn: fault.Latency, params: []string{"path", "by"}, doc: "makes every byte on a path arrive later, in each direction. Goes on"},
		{fn: fault.Jitter, params: []string{"path", "by", "jitter"}, doc: "is `latency` that is up to `jitter` more or less each time. Goes on"},
		{fn: fault.Bandwidth, params: []string{"path", "kilobytes"}, doc: "lets so many kilobytes a second pass in each direction of a path. Goes on"},
		{fn: fault.LimitData, params: []string{"path", "bytes"},
			doc: "breaks each connection on a path once it has carried so many bytes in one direction. Goes on"},
		{fn: fault.Partition, params: []string{"path"}, doc: "lets no byte pass on a path; connections stay open. Goes on"},
		{fn: fault.Timeout, params: []string{"path", "after"}, doc: "lets no byte pass on a path for this time and then breaks all connections"},
		{fn: fault.Reset, params: []string{"path"}, doc: "breaks all connections on a path; new ones are let through"},
		{fn: fault.Refuse, params: []string{"path"}, doc: "breaks all connections on a path and refuses new ones. Goes on"},
		{fn: fault.SlowClose, params: []string{"path", "by"}, doc: "makes the end of a connection on a path arrive later. Goes on"},
		{fn: fault.DuplicateStream,
			doc: "asks the source for the binlog under the identity of the tool's stream, which the source then ends with an error"},
		{fn: fault.Kill, params: []string{"sessions"}, doc: "ends sessions (KILL CONNECTION)"},
		{fn: fault.KillQuery, params: []string{"sessions"}, doc: "ends the statements that sessions are in (KILL QUERY); the sessions stay"},
		{fn: fault.Freeze, params: []string{"sessions"}, needs: performanceSchema,
			doc: "makes the threads of sessions stand still while all other threads of their servers go on, for a minute at most. Needs root or CAP_SYS_PTRACE too. Goes on"},
		{fn: fault.KillSubject, doc: "kills the tool (SIGKILL)"},
		{fn: fault.TerminateSubject, doc: "asks the tool to end (SIGTERM) and waits until it has"},
		{fn: fault.StopSubject,
			doc: "makes the tool stand still (SIGSTOP). `end` must come in the same block, or at a moment that comes without the tool. Goes on"},
		{fn: fault.KillServer, params: []string{"side", "options"},
			doc: "kills mysqld (SIGKILL), as a crash does. Its end starts it again, with these options for that start. Goes on"},
		{fn: fault.TerminateServer, params: []string{"side", "options"},
			doc: "stops mysqld as its operator would (SIGTERM). Its end starts it again, with these options for that start. Goes on"},
		{fn: fault.RestartServer, params: []string{"side", "options"},
			doc: "stops mysqld as its operator would and starts it again, with these options for that start"},
		{fn: fault.Failover, needs: aReplica,
			doc: "loses the source for good and makes its first replica the source, which tool and application find behind the old address. What the replica had not received is lost with the source"},
		{fn: fault.FullDisk, params: []string{"side"},
			doc: "takes all that is free of the disk of a server's data; give the cluster small `data_megabytes`. Goes on"},
		{fn: fault.FlushBinlogs, doc: "makes the source begin a new binlog file"},
		{fn: fault.PurgeBinlogs,
			doc: "makes the source begin a new binlog file and remove all others, whether or not the replicas have read them"},
		{fn: fault.ResetBinlogs,
			doc: "makes the source forget its binary logs and its GTIDs, and give as many GTIDs anew to transactions that change nothing: another history that looks like the one before. Not with replicas"},
		{fn: fault.Signal, params: []string{"name"}, doc: "does nothing: it is what `until` waits for"},
		{fn: fault.Until, params: []string{"name"},
			doc: "waits until a `signal` of this name, or an action with this label, has fired in another block, be it long ago"},
		{fn: fault.UntilAnswered, params: []string{"step"}, doc: "waits until the subject's next statement of a step has been answered"},
		{fn: fault.End, params: []string{"label"},
			doc: "ends the action with this label that goes on; what is not ended goes on to the end of the run"},
	}
}

// name is the block's name: the function's, in a file's spelling.
func (c constructor) name() string { return snake(c.goName()) }

func (c constructor) goName() string { return goName(c.fn) }

func goName(fn any) string {
	name := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name()
	name = strings.TrimSuffix(name, "-fm")   // of a method
	name = strings.TrimSuffix(name, "[...]") // of a generic function
	return name[strings.LastIndexByte(name, '.')+1:]
}

// label is the type of what the block's label says: a step, statements of a
// step, or an event; nil if the block has none, as that of an action.
func (c constructor) label() reflect.Type {
	if t := reflect.TypeOf(c.fn); t.NumIn() > 0 && t.Out(0) != actionType {
		switch first := t.In(0); first {
		case stepType, pickType, eventType:
			return first
		}
	}
	return nil
}

// acts reports whether the moment does something by itself; others need
// actions.
func (c constructor) acts() bool {
	t := reflect.TypeOf(c.fn)
	return !t.IsVariadic()
}

func (c constructor) header() hcl.BlockHeaderSchema {
	h := hcl.BlockHeaderSchema{Type: c.name()}
	switch c.label() {
	case stepType, pickType:
		h.LabelNames = []string{"step"}
	case eventType:
		h.LabelNames = []string{"event"}
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
