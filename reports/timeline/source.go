package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowproof/harness/history"
)

const (
	groupSource  = "source"
	laneBinlog   = "in the binlog"
	laneWaiting  = "waiting for the ACK"
	laneVisible  = "visible to readers"
	groupReplica = "replica"
)

// addSource adds the stages of a commit on the source: written to the binlog,
// waiting there for the replica's ACK, visible to readers.
func (b *builder) addSource() {
	r := b.in.Record
	visible, returned := map[string]time.Duration{}, map[string]time.Duration{}
	for _, op := range r.Ops {
		returned[strconv.Itoa(op.ID)] = op.Return
	}
	for _, m := range r.Marks {
		if m.Name == history.MarkVisible {
			visible[m.Data["op"]] = m.At
		}
	}
	told := b.addBinlog()
	for _, m := range r.Marks {
		switch m.Name {
		case history.MarkBinlogged:
			b.addWaiting(m, told, earliest(visible[m.Data["op"]], returned[m.Data["op"]]))
		case history.MarkVisible:
			b.add(Item{
				Lane: b.lane(groupSource, laneVisible), From: m.At, To: m.At, Kind: Visible, Row: b.row.inMark(m),
				Label: "visible: row " + m.Data["key"], Text: m.Text, Note: "a plain SELECT shows it for the first time (operation " + m.Data["op"] + ")",
			})
		}
	}
}

// addBinlog adds the events of the source's binlog whose time is known, and
// returns the times by GTID.
func (b *builder) addBinlog() map[string]time.Duration {
	told := map[string]time.Duration{}
	for _, e := range b.in.Record.Observed.Binlog {
		if e.Commit.IsZero() {
			continue
		}
		at := b.since(e.Commit)
		if e.GTID != "" {
			told[e.GTID] = at
		}
		i := Item{
			Lane: b.lane(groupSource, laneBinlog), From: at, To: at, Kind: Binlogged, Row: b.row.inBinlog(e), Text: e.SQL,
			Label: e.Kind + " " + string(e.Key) + " in " + e.Table, Note: place(e.File, e.Start, e.End, e.GTID),
		}
		if e.Kind == "ddl" {
			i.Label = "DDL on " + e.Table
		}
		b.add(i)
	}
	return told
}

// addWaiting adds the time for which a transaction was in the binlog and not
// yet committed.
func (b *builder) addWaiting(m history.Mark, told map[string]time.Duration, until time.Duration) {
	from, known := told[m.Data["gtid"]]
	pos, _ := strconv.ParseUint(m.Data["pos"], 10, 64) // 0 is not known
	where := place(m.Data["file"], 0, pos, m.Data["gtid"])
	concerns := b.row.inMark(m)
	if !known || from > m.At {
		from = m.At
	}
	if !known {
		b.add(Item{
			Lane: b.lane(groupSource, laneBinlog), From: from, To: from, Kind: Binlogged, Row: concerns,
			Label: "operation " + m.Data["op"] + " is in the binlog", Text: m.Text, Note: where,
		})
	}
	i := Item{
		Lane: b.lane(groupSource, laneWaiting), From: from, To: until, Kind: Waiting, Row: concerns,
		Label: "operation " + m.Data["op"] + " waits for its ACK", Text: m.Text, Note: "in the binlog, not visible yet: " + where,
	}
	if until <= from {
		i.To, i.Open = b.end, true
	}
	b.add(i)
}

// earliest is the earlier of two times, of which 0 is none.
func earliest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func place(file string, start, end uint64, gtid string) string {
	s := fmt.Sprintf("%s:%d", file, end)
	if start > 0 {
		s = fmt.Sprintf("%s, positions %d to %d", file, start, end)
	}
	if gtid != "" {
		s += ", GTID " + gtid
	}
	return s
}

// addReplicas adds a lane for each server that is not the source.
func (b *builder) addReplicas() {
	for _, s := range b.in.Record.Servers {
		if s.Name != "source" {
			b.lane(groupReplica, s.Name)
		}
	}
	stopped := map[string]*Item{} // by lane and what it was
	for _, m := range b.in.Record.Marks {
		if m.Name != history.MarkServer {
			continue
		}
		group := groupReplica
		if m.Lane == "source" {
			group = groupSource
		}
		i := Item{Lane: b.lane(group, m.Lane), From: m.At, To: m.At, Kind: Server, Turn: true, Label: m.Data["what"]}
		if what, ok := strings.CutPrefix(m.Data["what"], "stop "); ok {
			i.Label, i.To, i.Open = "stopped: "+what, b.end, true
			stopped[m.Lane+what] = &i
			continue
		}
		if what, ok := strings.CutPrefix(m.Data["what"], "start "); ok && stopped[m.Lane+what] != nil {
			until := stopped[m.Lane+what]
			until.To, until.Open = m.At, false
			b.add(*until)
			delete(stopped, m.Lane+what)
			continue
		}
		b.add(i)
	}
	for _, i := range stopped {
		b.add(*i)
	}
}
