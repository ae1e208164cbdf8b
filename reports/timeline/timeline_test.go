package timeline_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports/timeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render writes a timeline as text: a lane, and below it what lies on it.
func render(tl timeline.Timeline) string {
	var b strings.Builder
	last := -1
	for _, i := range tl.Items {
		if i.Lane != last {
			last = i.Lane
			fmt.Fprintf(&b, "%s / %s\n", tl.Lanes[i.Lane].Group, tl.Lanes[i.Lane].Name)
		}
		flags := ""
		if i.Row {
			flags += "R"
		}
		if i.Turn {
			flags += "T"
		}
		if i.Open {
			flags += "O"
		}
		fmt.Fprintf(&b, "  %v..%v %s %s [%s] %s | %s\n", i.From, i.To, i.Kind, i.Label, flags, i.Text, i.Note)
	}
	return b.String()
}

func TestNew(t *testing.T) {
	for name, record := range map[string]*history.Record{
		"lost-after-sync": histories.LostAfterSync(),
		"stale-copy":      histories.StaleCopy(),
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			key := record.Observed.Comparison.Diffs[0].Key
			got := render(timeline.New(timeline.Input{Record: record, Key: key}))
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("timeline (-want +got):\n%s", diff)
			}
		})
	}
}

// has fails the test unless a lane holds an item.
func has(t *testing.T, tl timeline.Timeline, lane, item string) {
	t.Helper()
	text := render(tl)
	for part := range strings.SplitSeq("\n"+text, "\n") {
		if part == lane {
			_, rest, _ := strings.Cut("\n"+text, "\n"+lane+"\n")
			for line := range strings.Lines(rest) {
				if !strings.HasPrefix(line, "  ") {
					break
				}
				if strings.Contains(line, item) {
					return
				}
			}
		}
	}
	t.Errorf("lane %q has no %q:\n%s", lane, item, text)
}

func TestLanes(t *testing.T) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	started := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	mark := func(ms int, lane, name, step, text string, data ...string) history.Mark {
		m := history.Mark{At: at(ms), Lane: lane, Name: name, Step: step, Text: text, Data: map[string]string{}}
		for i := 0; i < len(data); i += 2 {
			m.Data[data[i]] = data[i+1]
		}
		return m
	}
	long := "SELECT 'é" + strings.Repeat("x", 5000) + "'"
	record := &history.Record{
		Started: started, Table: history.Table{Name: "t", Key: []string{"id"}},
		Servers: []history.Server{{Name: "source"}, {Name: "replica-1"}, {Name: "replica-2"}},
		Planned: []string{"before lock: cut the line", "after rename: kill it"},
		Exit:    history.Exit{Outcome: "killed", Signal: "killed", At: at(90)},
		Ops: []history.Op{
			{ID: 1, Client: "writer-10", Kind: "read", Invoke: at(1), Return: at(2), Outcome: history.OK, Saw: map[history.Key]history.Row{"7": nil}},
			{ID: 2, Client: "writer-2", Kind: "delete", SQL: []string{"DELETE FROM t"}, Invoke: at(3), Return: at(4), Outcome: history.Failed, Code: 1213, Error: "Deadlock"},
			{ID: 3, Client: "writer-2", Kind: "move", Changes: []history.Change{{Kind: history.Move, Key: "7", NewKey: "8"}}, Invoke: at(5), Outcome: history.Unknown},
		},
		Marks: []history.Mark{
			mark(0, "subject", history.MarkSubjectStart, "", "tool --x"),
			mark(10, "subject", history.MarkStepSent, "copy-write", long[:100]+"… (5011 bytes)", "conn", "1", "occurrence", "1", "thread", "44"),
			mark(20, "subject", history.MarkStepReplied, "copy-write", "", "conn", "1", "occurrence", "1", "affected", "3"),
			mark(21, "subject", history.MarkStepSent, "copy-write", "REPLACE", "conn", "1", "occurrence", "2"),
			mark(22, "subject", history.MarkHeld, "lock", "", "conn", "1", "gate", "before lock", "occurrence", "1"),
			mark(23, "fault", history.MarkFaultFired, "", "cut the line", "fault", "before lock: cut the line", "label", "cut"),
			mark(24, "replica-1", history.MarkServer, "", "", "what", "stop the replica's IO thread"),
			mark(33, "fault", history.MarkFaultEnded, "", "cut the line", "label", "cut"),
			mark(34, "replica-1", history.MarkServer, "", "", "what", "start the replica's IO thread"),
			mark(35, "replica-2", history.MarkServer, "", "", "what", "stop the replica's SQL thread"),
			mark(36, "source", history.MarkBinlogged, "", "", "op", "3", "gtid", "u:5", "file", "binlog.000001", "pos", "99"),
			mark(37, "subject-2", history.MarkSubjectStart, "", "tool again"),
			mark(38, "subject-2", history.MarkStepSent, "attach", "SHOW", "conn", "1", "occurrence", "1"),
			mark(39, "subject-2", history.MarkSubjectExit, "", "", "code", "1"),
			mark(40, "harness", "strange", "", "what is this"),
			mark(90, "subject", history.MarkSubjectExit, "", "", "code", "0"),
		},
	}
	record.Observed.Binlog = []history.BinlogRow{
		{Kind: "update", Table: "t", Key: "7", NewKey: "8", GTID: "u:5", File: "binlog.000001", Start: 50, End: 99, Commit: started.Add(at(6))},
		{Kind: "insert", Table: "t", Key: "9", File: "binlog.000001", Start: 99, End: 120}, // when is not known
	}
	sent := []history.Statement{
		{Time: started.Add(at(2)), Conn: 2, Kind: "query", SQL: "SET x = 1"},
		{Time: started.Add(at(10)), Conn: 1, Kind: "query", SQL: long, Step: "copy-write"},
	}
	tl := timeline.New(timeline.Input{Record: record, Statements: sent, Key: "7"})

	for _, want := range []struct{ lane, item string }{
		{"faults / before lock", "23ms..33ms fault cut the line [T]"},
		{"application / writer-10", "1ms..2ms read READ [R]  | operation 1: answered; row 7 was no row"},
		{"application / writer-2", "3ms..4ms refused DELETE [] DELETE FROM t | operation 2: refused, error 1213, Deadlock"},
		{"application / writer-2", "5ms..90ms unsure MOVE 7 → 8 [RO]"},
		{"source / in the binlog", "6ms..6ms binlogged update 7 in t [R]"},
		{"source / waiting for the ACK", "6ms..90ms waiting operation 3 waits for its ACK [RO]"},
		{"replica / replica-1", "24ms..34ms server stopped: the replica's IO thread [T]"},
		{"replica / replica-2", "35ms..90ms server stopped: the replica's SQL thread [TO]"},
		{"tool / process", "0s..90ms process the tool runs [] tool --x | killed by killed"},
		{"tool / connection 1: copy-write, lock (thread 44)", "10ms..20ms step copy-write [] " + long + " | rows affected: 3"},
		{"tool / connection 1: copy-write, lock (thread 44)", "21ms..90ms step copy-write [O]"},
		{"tool / connection 1: copy-write, lock (thread 44)", "22ms..90ms held held: before lock [TO]"},
		{"tool / connection 2", "2ms..2ms statement SET [] SET x = 1"},
		{"second tool / process", "37ms..39ms process the tool runs [] tool again | exit status 1"},
		{"second tool / connection 1: attach", "38ms..90ms step attach [TO]"},
		{"others / harness", "strange"},
	} {
		t.Run("OK/"+want.lane, func(t *testing.T) { has(t, tl, want.lane, want.item) })
	}

	t.Run("OK/Names", func(t *testing.T) {
		var names []string
		for _, l := range tl.Lanes {
			names = append(names, l.Place())
		}
		want := []string{
			"faults: before lock", "faults: never fired: after rename: kill it", "application: writer-2", "application: writer-10",
			"source: in the binlog", "source: waiting for the ACK", "replica: replica-1", "replica: replica-2",
			"tool: process", "tool: connection 1", "tool: connection 2", "second tool: process", "second tool: connection 1", "others: harness",
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("lanes (-want +got):\n%s", diff)
		}
	})

	t.Run("OK/History", func(t *testing.T) {
		last := time.Duration(0)
		for _, n := range tl.History() {
			i := tl.Items[n]
			if !i.Row && !i.Turn || i.From < last {
				t.Errorf("history: item %q at %v after %v", i.Label, i.From, last)
			}
			last = i.From
		}
	})
}

func TestLoad(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		dir := t.TempDir()
		if err := history.Save(dir, histories.LostAfterSync()); err != nil {
			t.Fatal(err)
		}
		log := `{"time":"2026-08-01T12:00:00Z","conn":1,"kind":"query","sql":"SELECT 1"}` + "\n" + `{"time":"2026-08` // it died while it wrote
		if err := os.WriteFile(filepath.Join(dir, history.StatementsFile), []byte(log), 0o644); err != nil {
			t.Fatal(err)
		}
		_, sent, err := timeline.Load(dir)
		if err != nil || len(sent) != 0 {
			t.Errorf("load: got %v, %v, want no statement: their file is not whole", sent, err)
		}
	})

	t.Run("ErrNotStored", func(t *testing.T) {
		if _, _, err := timeline.Load(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("load: got %v, want %v", err, fs.ErrNotExist)
		}
	})
}
