package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"rowproof/harness/history"
)

// Kinds of changes that change nothing, and tell what a row was at some moment
// of their operation.
const (
	seen    history.ChangeKind = "seen"    // it was Set; nil: it was not there
	present history.ChangeKind = "present" // it was there
)

// duplicateEntry is the server's number for a refusal as duplicate.
const duplicateEntry = 1062

// duplicatePrimary is the end of its message if a primary key is concerned.
// Other unique keys, and those of other tables, tell nothing of the row.
var duplicatePrimary = regexp.MustCompile(`for key '(?:([^']*)\.)?PRIMARY'$`)

// looks returns what the operations that changed nothing tell of the rows. A
// write whose reply was lost may be there or not, until one of them decides
// it: from then on it can't be otherwise.
func looks(r *history.Record) []*write {
	old := map[string]string{}
	for from, to := range r.Table.Renames {
		old[to] = from
	}
	var all []*write
	for i := range r.Ops {
		op := &r.Ops[i]
		var changes []history.Change
		switch {
		case op.Outcome == history.OK:
			for _, k := range slices.Sorted(maps.Keys(op.Saw)) {
				changes = append(changes, history.Change{Kind: seen, Key: k, Set: beforeRenames(op.Saw[k], old)})
			}
		case op.Outcome == history.Failed && wasThere(op, r.Table.Name):
			changes = []history.Change{{Kind: present, Key: op.Changes[0].Key}}
		}
		if len(changes) > 0 {
			all = append(all, &write{op: op, changes: changes, from: op.Invoke, until: op.Return, sure: true, look: true})
		}
	}
	return all
}

// wasThere reports whether the server refused to insert a row because it was
// there. In a longer transaction it may have been the transaction's own.
func wasThere(op *history.Op, table string) bool {
	if op.Code != duplicateEntry || len(op.Changes) != 1 || op.Changes[0].Kind != history.Insert {
		return false
	}
	m := duplicatePrimary.FindStringSubmatch(op.Error)
	return m != nil && (m[1] == "" || m[1] == table)
}

func beforeRenames(row history.Row, old map[string]string) history.Row {
	if row == nil || len(old) == 0 {
		return row
	}
	named := history.Row{}
	for column, v := range row {
		named[renamed(column, old)] = v
	}
	return named
}

// impossibleLook says that a client was told what no order of the writes
// allows.
func impossibleLook(w *write) Anomaly {
	c := w.changes[0]
	if c.Kind == present {
		return Anomaly{Kind: ResurrectedRow, Key: c.Key, Text: fmt.Sprintf(
			"Write %d of %s (%s) was refused as a duplicate, although by every order of the writes before it row %s was not there.",
			w.op.ID, w.op.Client, w.op.Kind, c.Key)}
	}
	return Anomaly{Kind: LostWrite, Key: c.Key, Text: fmt.Sprintf(
		"Read %d of %s found row %s to be %s, which it was by no order of the writes before it.",
		w.op.ID, w.op.Client, c.Key, Show(c.Set))}
}
