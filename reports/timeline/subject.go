package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rowproof/harness/history"
)

const (
	groupTool   = "tool"
	groupStream = "stream"
	laneProcess = "process"
	toolLane    = "subject" // of the marks
)

// turns are the steps that decide what a migration sees, and when it swaps.
var turns = []string{"attach", "dump", "range-read", "lock", "rename"}

// mostTurns is how many statements of one step are turning points.
const mostTurns = 2

// addSubject adds the subject's process and its connections, each with its
// statements and the gates that held them.
func (b *builder) addSubject() {
	b.addProcess()
	lanes := b.connections()
	sent := map[string]*Item{} // by connection and step, until the reply
	names := map[string]string{}
	held := map[string]*Item{}
	turned := map[string]int{}
	for _, m := range b.in.Record.Marks {
		lane, ok := lanes[m.Data["conn"]]
		if m.Lane != toolLane || !ok {
			continue
		}
		id := m.Data["conn"] + "/" + m.Step + "/" + m.Data["occurrence"]
		switch m.Name {
		case history.MarkStepSent:
			text := b.whole(m)
			i := &Item{Lane: lane, From: m.At, To: b.end, Kind: Step, Label: m.Step, Text: text, Note: "no answer", Open: true}
			i.Row = b.row.inStatement(text, "")
			if slices.Contains(turns, m.Step) && turned[m.Step] < mostTurns {
				turned[m.Step]++
				i.Turn = true
			}
			b.settle(sent[id])
			sent[id], names[id] = i, m.Step
		case history.MarkStepReplied:
			if i := sent[id]; i != nil {
				i.To, i.Note, i.Open = m.At, replyNote(m), false
				i.Row = i.Row || b.row.inStatement("", m.Data["rows"])
				b.settle(i)
				delete(sent, id)
			}
		case history.MarkHeld:
			held[id+m.Data["gate"]] = b.held(m, lane)
		case history.MarkReleased:
			if i := held[id+m.Data["gate"]]; i != nil {
				i.To, i.Open = m.At, false
				b.settle(i)
				delete(held, id+m.Data["gate"])
			}
		}
	}
	for _, open := range []map[string]*Item{sent, held} {
		for _, i := range open {
			b.settle(i)
		}
	}
	b.addStatements(lanes)
}

func (b *builder) settle(i *Item) {
	if i != nil {
		b.add(*i)
	}
}

// held is the item of a gate that holds the subject, until it lets it go.
func (b *builder) held(m history.Mark, lane int) *Item {
	label := "held"
	if m.Data["gate"] != "" {
		label = "held: " + m.Data["gate"]
	}
	return &Item{Lane: lane, From: m.At, To: b.end, Kind: Held, Label: label, Text: m.Text, Turn: true, Open: true, Row: b.row.inMark(m)}
}

// addProcess adds the time for which the subject ran.
func (b *builder) addProcess() {
	i := Item{Kind: Process, Label: "the tool runs", To: b.end, Open: true}
	started, ended := false, false
	for _, m := range b.in.Record.Marks {
		switch m.Name {
		case history.MarkSubjectStart:
			if !started {
				i.From, i.Text, started = m.At, m.Text, true
			}
		case history.MarkSubjectExit:
			i.To, i.Open, ended = m.At, false, true
		}
	}
	if !started {
		return
	}
	exit := b.in.Record.Exit
	if ended {
		i.Note = ExitNote(exit)
	}
	i.Lane = b.lane(groupTool, laneProcess)
	b.add(i)
	if ended {
		b.add(Item{Lane: i.Lane, From: i.To, To: i.To, Kind: Process, Label: "the tool ended: " + exit.Outcome, Text: exit.Message, Note: i.Note, Turn: true})
	}
}

// ExitNote tells how the subject ended.
func ExitNote(exit history.Exit) string {
	if exit.Signal != "" {
		return fmt.Sprintf("%s by %s", exit.Outcome, exit.Signal)
	}
	return fmt.Sprintf("%s, exit status %d", exit.Outcome, exit.Code)
}

// connections makes a lane for each connection of the subject and returns
// them by their numbers. A connection is named for the steps it was used for.
func (b *builder) connections() map[string]int {
	steps := map[string][]string{}
	thread := map[string]string{}
	var conns []string
	see := func(conn, step, id string) {
		if _, ok := steps[conn]; !ok {
			steps[conn] = nil
			conns = append(conns, conn)
		}
		if step != "" && !slices.Contains(steps[conn], step) {
			steps[conn] = append(steps[conn], step)
		}
		if id != "" && id != "0" {
			thread[conn] = id
		}
	}
	for _, m := range b.in.Record.Marks {
		if m.Lane == toolLane && m.Data["conn"] != "" {
			see(m.Data["conn"], m.Step, m.Data["thread"])
		}
	}
	for _, s := range b.in.Statements {
		see(strconv.FormatUint(s.Conn, 10), s.Step, strconv.FormatUint(uint64(s.Thread), 10))
	}
	slices.SortFunc(conns, natural)
	lanes := map[string]int{}
	for _, c := range conns {
		name := "connection " + c
		if used := steps[c]; len(used) > 0 {
			const most = 3
			if len(used) > most {
				used = append(slices.Clone(used[:most]), "…")
			}
			name += ": " + strings.Join(used, ", ")
		}
		if id := thread[c]; id != "" {
			name += " (thread " + id + ")"
		}
		lanes[c] = b.lane(groupTool, name)
	}
	return lanes
}

// replyNote tells what the server answered.
func replyNote(m history.Mark) string {
	var parts []string
	if e := m.Data["error"]; e != "" {
		parts = append(parts, "error: "+e)
	}
	if rows := m.Data["rows"]; rows != "" && rows != "null" {
		count := m.Data["row_count"]
		if count == "" {
			count = "some"
		}
		if count == "1" {
			count = "1 row:"
		} else {
			count += " rows:"
		}
		parts = append(parts, count+" "+rows)
	} else if n := m.Data["affected"]; n != "" && m.Step != "dump" {
		parts = append(parts, "rows affected: "+n)
	}
	if len(parts) == 0 {
		return "answered"
	}
	return strings.Join(parts, "; ")
}

// addStream adds the events that passed to the subject.
func (b *builder) addStream() {
	for _, m := range b.in.Record.Marks {
		if m.Name != history.MarkStreamEvent {
			continue
		}
		start, _ := strconv.ParseUint(m.Data["start"], 10, 64) // 0 is not known
		pos, _ := strconv.ParseUint(m.Data["pos"], 10, 64)
		label := m.Data["kind"]
		if m.Data["table"] != "" {
			label = strings.TrimSpace(m.Data["change"]+" "+m.Data["kind"]) + " of " + m.Data["table"]
		}
		b.add(Item{
			Lane: b.lane(groupStream, "events to the tool"), From: m.At, To: m.At, Kind: Stream, Row: b.row.inMark(m),
			Label: label, Text: m.Text, Note: place(m.Data["file"], start, pos, m.Data["gtid"]),
		})
	}
}

// known are the marks that have lanes of their own.
var known = []string{
	history.MarkStepSent, history.MarkStepReplied, history.MarkHeld, history.MarkReleased, history.MarkFaultFired, history.MarkFaultEnded,
	history.MarkBinlogged, history.MarkVisible, history.MarkStreamEvent, history.MarkServer, history.MarkSubjectStart, history.MarkSubjectExit,
}

// addOthers adds what has no lane yet: marks of other proxies than the
// subject's, and of names that this version doesn't know.
func (b *builder) addOthers() {
	for _, m := range b.in.Record.Marks {
		wire := m.Name == history.MarkStepSent || m.Name == history.MarkStepReplied || m.Name == history.MarkHeld || m.Name == history.MarkReleased
		if slices.Contains(known, m.Name) && !(wire && m.Lane != toolLane) {
			continue
		}
		name := m.Lane
		if c := m.Data["conn"]; c != "" {
			name += ", connection " + c
		}
		b.add(Item{
			Lane: b.lane("others", name), From: m.At, To: m.At, Kind: Other, Label: strings.TrimSpace(m.Name + " " + m.Step), Text: m.Text,
			Row: b.row.inStatement(m.Text, m.Data["rows"]),
		})
	}
}

// moment is when a logged statement was sent.
func (b *builder) moment(s Sent) time.Duration { return b.since(s.Time) }
