package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rowproof/harness/history"
)

const (
	groupTool   = "tool"
	groupStream = "stream"
	laneProcess = "process"
)

// tools are the lanes of marks that are a tool's, with the groups that they
// are shown in. The second is a second run of it beside the first.
var tools = []struct{ lane, group string }{{"subject", groupTool}, {"subject-2", "second " + groupTool}}

// turns are the steps that decide what a migration sees, and when it swaps.
var turns = []string{"attach", "dump", "range-read", "lock", "rename"}

// mostTurns is how many statements of one step are turning points.
const mostTurns = 2

// addSubject adds the subject, and a second run of it if there was one.
func (b *builder) addSubject() {
	for i, t := range tools {
		statements := b.in.Statements
		if i > 0 {
			statements = nil // the log is of the first
		}
		b.addTool(t.lane, t.group, statements)
	}
}

// addTool adds a tool's process and its connections, each with its statements
// and the gates that held them.
func (b *builder) addTool(toolLane, group string, statements []history.Statement) {
	b.addProcess(toolLane, group)
	lanes := b.connections(toolLane, group, statements)
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
	b.addStatements(lanes, statements)
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

// addProcess adds the time for which the subject ran: several times, if it
// was taken up again.
func (b *builder) addProcess(toolLane, group string) {
	exit := b.in.Record.Exit
	var running *Item
	for _, m := range b.in.Record.Marks {
		switch {
		case m.Lane != toolLane:
		case m.Name == history.MarkSubjectStart:
			b.settle(running)
			running = &Item{Lane: b.lane(group, laneProcess), From: m.At, To: b.end, Kind: Process, Label: "the tool runs", Text: m.Text, Open: true}
		case m.Name == history.MarkSubjectExit && running != nil:
			end := Item{Lane: running.Lane, From: m.At, To: m.At, Kind: Process, Label: "the tool ended", Text: m.Text, Turn: true}
			end.Note = strings.TrimSpace("exit status " + m.Data["code"] + " " + m.Data["signal"])
			if toolLane == tools[0].lane && m.At >= exit.At {
				end.Note = ExitNote(exit)
			}
			running.To, running.Open, running.Note = m.At, false, end.Note
			b.settle(running)
			b.add(end)
			running = nil
		}
	}
	b.settle(running)
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
func (b *builder) connections(toolLane, group string, statements []history.Statement) map[string]int {
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
	for _, s := range statements {
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
		lanes[c] = b.lane(group, name)
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
		if slices.Contains(known, m.Name) && (!wire || isTool(m.Lane)) {
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

// isTool reports a lane of marks that is a tool's.
func isTool(lane string) bool {
	for _, t := range tools {
		if t.lane == lane {
			return true
		}
	}
	return false
}
