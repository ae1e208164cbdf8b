package check

import (
	"fmt"
	"strings"

	"rowproof/harness/history"
)

// CutoverWhole asks whether the swap was one step for everybody: no write
// reached the old table once the new one was live, and no reader saw the table
// without a row that stood there all the time.
func CutoverWhole(r *history.Record) Result {
	var found []Anomaly
	for _, op := range r.Ops {
		// A reader that got an answer and does not like it records a failed
		// read without an error number.
		if op.Kind == readKind && op.Outcome == history.Failed && op.Code == 0 {
			found = append(found, Anomaly{Kind: TornCutover, Text: fmt.Sprintf(
				"%s saw a broken table at %s: %s.", op.Client, ms(op.Return), strings.TrimSuffix(op.Error, "."))})
		}
	}
	old := ""
	var swap history.BinlogRow
	for _, e := range r.Observed.Binlog {
		if e.Kind == ddlKind {
			for _, m := range Renames(e.SQL) {
				switch {
				case m.From == r.Table.Name:
					old, swap = m.To, e
				case m.From == old:
					old = m.To
				}
			}
			continue
		}
		if old != "" && e.Table == old {
			found = append(found, Anomaly{Kind: TornCutover, Key: e.Key, Text: fmt.Sprintf(
				"The %s of row %s (%s) went to the old table %s, after the swap at %s:%d.", e.Kind, e.Key, transaction(e), old, swap.File, swap.End)})
		}
	}
	return finding(found, nil)
}

const ddlKind = "ddl"

func transaction(e history.BinlogRow) string {
	if e.GTID == "" {
		return fmt.Sprintf("%s:%d", e.File, e.Start)
	}
	return e.GTID
}
