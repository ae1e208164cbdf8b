package fault

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// WriteUnacked sends writes, each as a transaction of its own, and returns
// when all are in the source's binlog and wait there for a replica's ACK:
// readers don't see them. They commit when the ACK comes.
func WriteUnacked(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes) + ", which waits for its ACK", Writes: writes, Do: func(ctx context.Context, s *Site) error {
		for _, w := range writes {
			if _, _, err := s.writeUnacked(ctx, w); err != nil {
				return err
			}
		}
		return nil
	}}
}

// writeUnacked returns the write under way, and its session.
func (s *Site) writeUnacked(ctx context.Context, w workload.Write) (*workload.Pending, uint64, error) {
	client := s.client()
	thread, err := client.ThreadID(ctx)
	if err != nil {
		return nil, 0, err
	}
	before, err := s.Cluster.Source().BinlogEnd(ctx)
	if err != nil {
		return nil, 0, err
	}
	// The write outlives the fault: it ends when the ACK comes.
	pending, err := client.Start(context.WithoutCancel(ctx), w)
	if err != nil {
		return nil, 0, err
	}
	s.leave(pending)
	gtid, end, err := s.binlogged(ctx, thread, before, pending)
	if err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	s.unacked = append(s.unacked, unacked{w.SQL, wire.LogSpot{File: end.File, Pos: end.Pos}, pending})
	s.mu.Unlock()
	shown, err := s.shown(ctx, w)
	if err != nil {
		return nil, 0, err
	}
	if shown {
		return nil, 0, fmt.Errorf("the write is visible before its ACK: %s", w.SQL)
	}
	s.Recorder.Mark(history.Mark{Lane: "source", Name: history.MarkBinlogged, Text: w.SQL, Data: map[string]string{
		"op": strconv.Itoa(pending.ID), "gtid": gtid, "file": end.File, "pos": strconv.FormatUint(end.Pos, 10), "visible": "no",
	}})
	s.watch(ctx, func(ctx context.Context) { s.markVisible(ctx, w, pending) })
	return pending, thread, nil
}

// markVisible waits until a plain read shows the write, and marks that. Once
// the write has returned it is visible, so only one more look is worth it:
// the row may have been lost in between.
func (s *Site) markVisible(ctx context.Context, w workload.Write, p *workload.Pending) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for returned := false; !returned; {
		select {
		case <-ctx.Done():
			return
		case <-p.Done():
			returned = true
		case <-tick.C:
		}
		shown, err := s.shown(ctx, w)
		if err != nil {
			return // the mark is missing, and the report says so
		}
		if shown {
			s.Recorder.Mark(history.Mark{Lane: "source", Name: history.MarkVisible, Text: w.SQL, Data: map[string]string{
				"op": strconv.Itoa(p.ID), "key": string(w.Changes[0].Key),
			}})
			return
		}
	}
}

// binlogged waits until the session owns a transaction that is in the
// binlog: the server owns its GTID from then until it commits.
func (s *Site) binlogged(ctx context.Context, thread uint64, before topology.Position, p *workload.Pending) (string, topology.Position, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", topology.Position{}, ctx.Err()
		case <-p.Done():
			return "", topology.Position{}, fmt.Errorf("the write did not wait for an ACK: it ended (%v)", p.Wait(ctx))
		case <-tick.C:
		}
		end, err := s.Cluster.Source().BinlogEnd(ctx)
		if err != nil {
			return "", end, err
		}
		if end.File == before.File && end.Pos == before.Pos {
			continue
		}
		owned, err := s.Cluster.Source().OwnedGTIDs(ctx)
		if err != nil {
			return "", end, err
		}
		gtid := ownedBy(owned, thread)
		if s.gtidOff() {
			return gtid, end, nil
		}
		if gtid != "" {
			// What moved the end may have been another's. The server gives
			// the end once what has a GTID by now is written.
			end, err = s.Cluster.Source().BinlogEnd(ctx)
			return gtid, end, err
		}
	}
}

func (s *Site) gtidOff() bool { return !s.Cluster.Spec().GTID }

// ownedBy finds a thread's GTID in @@gtid_owned, such as "uuid:5#14:6#15".
func ownedBy(owned string, thread uint64) string {
	for set := range strings.SplitSeq(owned, ",") {
		parts := strings.Split(strings.TrimSpace(set), ":")
		for _, part := range parts[1:] {
			number, owner, _ := strings.Cut(part, "#")
			if owner == strconv.FormatUint(thread, 10) {
				return parts[0] + ":" + number
			}
		}
	}
	return ""
}

// shown reports whether a plain read sees any of the write.
func (s *Site) shown(ctx context.Context, w workload.Write) (bool, error) {
	for _, c := range w.Changes {
		key := c.Key
		if c.Kind == history.Move {
			key = c.NewKey
		}
		rows, err := observe.Rows(ctx, s.App, observe.TableRef{Schema: s.Schema, Name: s.Table.Name}, []history.Key{key})
		if err != nil {
			return false, err
		}
		if shows(c, rows[key]) {
			return true, nil
		}
	}
	return false, nil
}

// shows reports whether a row, nil if there is none, is what the change
// leaves.
func shows(c history.Change, row history.Row) bool {
	switch c.Kind {
	case history.Delete:
		return row == nil
	case history.Insert, history.Move:
		return row != nil
	}
	for column, want := range c.Set {
		got := row[column]
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			return false
		}
	}
	return row != nil && len(c.Set) > 0 // an increment can't be recognised
}
