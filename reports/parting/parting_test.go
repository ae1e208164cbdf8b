package parting_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"rowproof/fixtures/histories"
	"rowproof/harness/history"
	"rowproof/reports/parting"
)

func text(t *testing.T, a, b *history.Record) string {
	t.Helper()
	var out strings.Builder
	if err := parting.Compare(a, b).WriteText(&out, strings.ToUpper); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompare(t *testing.T) {
	t.Run("OK/Same", func(t *testing.T) {
		a, b := histories.Made(50), histories.Made(50)
		for i := range b.Marks { // later, on another server, over other connections
			m := &b.Marks[i]
			m.At += time.Second
			m.Text = strings.ReplaceAll(m.Text, "binlog.000002:4", "binlog.000017:99")
			if m.Data["conn"] != "" {
				m.Data["conn"] += "1"
			}
			if m.Data["gtid"] != "" {
				m.Data["gtid"] = "11111111-2222-3333-4444-555555555555:9"
			}
		}
		got := parting.Compare(a, b)
		if len(got.Partings) != 0 || len(got.Same) == 0 {
			t.Errorf("partings: got %+v, want none", got.Partings)
		}
		if s := text(t, a, b); !strings.Contains(s, "They do not part ways") || !strings.Contains(s, "client writer-1 (7)") {
			t.Errorf("text: got %s", s)
		}
	})

	for name, tt := range map[string]struct {
		change func(*history.Record)
		strand string
		number int
	}{
		"Operation": {func(r *history.Record) { r.Ops[9].Outcome = history.Failed }, "client writer-2", 2},
		"Statement": {func(r *history.Record) {
			i := slices.IndexFunc(r.Marks, func(m history.Mark) bool { return m.Step == "apply" && strings.Contains(m.Text, "(7)") })
			r.Marks[i].Text = strings.Replace(r.Marks[i].Text, " FOR SHARE", "", 1)
		}, "step apply", 7},
		"Answer": {func(r *history.Record) {
			i := slices.IndexFunc(r.Marks, func(m history.Mark) bool {
				return m.Name == history.MarkStepReplied && m.Step == "apply" && m.Data["occurrence"] == "5"
			})
			r.Marks[i].Data = map[string]string{"conn": "3", "occurrence": "5", "affected": "0"}
		}, "answers to apply", 5},
		"Fault": {func(r *history.Record) {
			r.Marks = slices.DeleteFunc(r.Marks, func(m history.Mark) bool { return m.Name == history.MarkFaultEnded })
		}, "the faults", 2},
		"End":   {func(r *history.Record) { r.Exit.Code = 1 }, "the end", 1},
		"Final": {func(r *history.Record) { delete(r.Observed.Final, "50") }, "the final rows", 46},
		"Binlog": {func(r *history.Record) {
			r.Observed.Binlog = append(r.Observed.Binlog, history.BinlogRow{Kind: "delete", Table: "pair", Key: "1"})
		}, "the source's binlog", 51},
	} {
		t.Run("OK/"+name, func(t *testing.T) {
			a, b := histories.Made(50), histories.Made(50)
			tt.change(b)
			got := parting.Compare(a, b).Partings
			if len(got) != 1 || got[0].Strand != tt.strand || got[0].Number != tt.number {
				t.Errorf("partings: got %+v, want one, in %s, event %d", got, tt.strand, tt.number)
			}
			if back := parting.Compare(b, a).Partings; len(back) != 1 || back[0].Strand != tt.strand || back[0].Number != tt.number {
				t.Errorf("partings the other way round: got %+v", back)
			}
		})
	}

	t.Run("OK/EarliestFirst", func(t *testing.T) {
		a, b := histories.Made(50), histories.Made(50)
		b.Exit.Code = 1
		b.Ops[49].Outcome = history.Unknown
		b.Ops[20].Outcome = history.Unknown
		got := parting.Compare(a, b).Partings
		if len(got) != 3 || got[0].Strand != "client writer-5" || got[1].Strand != "client writer-2" || got[2].Strand != "the end" {
			t.Errorf("partings: got %+v, want writer-5, writer-2, the end", got)
		}
	})
}

func TestWriteText(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		a, b := histories.Made(50), histories.Made(50)
		b.Ops[8].SQL = []string{a.Ops[8].SQL[0] + " /* and more */"}
		delete(b.Observed.Final, "50")
		got := text(t, a, b)
		for _, want := range []string{"They first part ways in client writer-1, event 2:", "  A, at 3.6 ms: …", "/* AND MORE */", "Then:\n  the final rows, event 46:", "A, after the run: ROW 50"} {
			if !strings.Contains(got, want) {
				t.Errorf("text lacks %q:\n%s", want, got)
			}
		}
		for line := range strings.Lines(got) {
			if len(line) > 400 && !strings.HasPrefix(line, "The same in both") {
				t.Errorf("line of %d bytes: %.100s…", len(line), line)
			}
		}
	})

	t.Run("ErrWrite", func(t *testing.T) {
		if err := parting.Compare(histories.Made(1), histories.Made(1)).WriteText(broken{}, strings.ToUpper); err == nil {
			t.Error("write: got no error")
		}
	})
}

// broken takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
