package timeline

import (
	"encoding/json"
	"slices"
	"strconv"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// row recognises what concerns one row.
type row struct {
	key    history.Key
	ops    map[string]bool // numbers of the operations on it
	gtids  map[string]bool // of the transactions with its events
	events []history.BinlogRow
	names  func(text string) bool
}

func newRow(r *history.Record, key history.Key) row {
	x := row{key: key, ops: map[string]bool{}, gtids: map[string]bool{}}
	if key == "" {
		return x
	}
	x.names = check.Names(r.Table, key)
	for _, op := range r.Ops {
		if x.inOp(op) {
			x.ops[strconv.Itoa(op.ID)] = true
		}
	}
	for _, b := range r.Observed.Binlog {
		if x.inBinlog(b) {
			x.events = append(x.events, b)
			if b.GTID != "" {
				x.gtids[b.GTID] = true
			}
		}
	}
	return x
}

func (x row) inOp(op history.Op) bool {
	if _, ok := op.Saw[x.key]; ok {
		return true
	}
	return x.key != "" && slices.ContainsFunc(op.Changes, func(c history.Change) bool { return c.Key == x.key || c.NewKey == x.key })
}

func (x row) inBinlog(b history.BinlogRow) bool {
	return x.key != "" && b.Kind != "ddl" && (b.Key == x.key || b.NewKey == x.key)
}

// inMark reports whether a mark of the source or the stream concerns the row.
func (x row) inMark(m history.Mark) bool {
	if x.key == "" {
		return false
	}
	if m.Data["key"] == string(x.key) || x.ops[m.Data["op"]] || x.gtids[m.Data["gtid"]] {
		return true
	}
	pos, err := strconv.ParseUint(m.Data["pos"], 10, 64)
	return err == nil && m.Data["kind"] != "rotate" && slices.ContainsFunc(x.events, func(b history.BinlogRow) bool {
		return b.File == m.Data["file"] && pos > b.Start && pos <= b.End && b.Start > 0
	})
}

// inStatement reports whether a statement or the rows of its reply name the
// row.
func (x row) inStatement(text, rows string) bool {
	if x.key == "" {
		return false
	}
	if x.names(text) {
		return true
	}
	var list [][]*string
	if json.Unmarshal([]byte(rows), &list) != nil {
		return false // no rows
	}
	return slices.ContainsFunc(list, func(r []*string) bool {
		return len(r) > 1 && r[0] != nil && *r[0] == string(x.key)
	})
}
