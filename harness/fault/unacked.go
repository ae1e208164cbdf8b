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
	"rowproof/harness/workload"
)

// WriteUnacked sends writes, each as a transaction of its own, and returns
// when all are in the source's binlog and wait there for a replica's ACK:
// readers don't see them. They commit when the ACK comes.
func WriteUnacked(writes ...workload.Write) Action {
	return Action{Name: "write " + summary(writes) + ", which waits for its ACK", Writes: writes, Do: func(ctx context.Context, s *Site) error {
		for _, w := range writes {
			if err := s.writeUnacked(ctx, w); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (s *Site) writeUnacked(ctx context.Context, w workload.Write) error {
	client := s.client()
	thread, err := client.ThreadID(ctx)
	if err != nil {
		return err
	}
	before, err := s.Cluster.Source().BinlogEnd(ctx)
	if err != nil {
		return err
	}
	// The write outlives the fault: it ends when the ACK comes.
	pending, err := client.Start(context.WithoutCancel(ctx), w)
	if err != nil {
		return err
	}
	s.leave(pending)
	gtid, end, err := s.binlogged(ctx, thread, before, pending)
	if err != nil {
		return err
	}
	if err := s.invisible(ctx, w); err != nil {
		return err
	}
	s.Recorder.Mark(history.Mark{Lane: "source", Name: history.MarkBinlogged, Text: w.SQL, Data: map[string]string{
		"op": strconv.Itoa(pending.ID), "gtid": gtid, "file": end.File, "pos": strconv.FormatUint(end.Pos, 10), "visible": "no",
	}})
	return nil
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
		if gtid := ownedBy(owned, thread); gtid != "" || s.gtidOff() {
			return gtid, end, nil
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

// invisible makes sure that a plain read does not see the write yet.
func (s *Site) invisible(ctx context.Context, w workload.Write) error {
	for _, c := range w.Changes {
		key := c.Key
		if c.Kind == history.Move {
			key = c.NewKey
		}
		rows, err := observe.Rows(ctx, s.App, observe.TableRef{Schema: s.Schema, Name: s.Table.Name}, []history.Key{key})
		if err != nil {
			return err
		}
		if shows(c, rows[key]) {
			return fmt.Errorf("the write of row %s is visible before its ACK", key)
		}
	}
	return nil
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
	return row != nil
}
