package wire_test

import (
	"testing"

	"rowproof/harness/step"
	"rowproof/harness/wire"
)

func TestPhrasebook(t *testing.T) {
	own := wire.CommentPhrasebook("osc")
	foreign := wire.NewPhrasebook(
		wire.Phrase{Step: step.Lock, Pattern: rx(`(?i)^lock tables`)},
		wire.Phrase{Step: step.Rename, Pattern: rx(`(?i)^rename table`)},
		wire.Phrase{Step: step.Attach, Kind: wire.KindRegister},
	)
	for _, c := range []struct {
		name string
		book wire.Phrasebook
		kind wire.Kind
		sql  string
		want step.Step
	}{
		{"Prefix", own, wire.KindQuery, "/* osc:copy-write */ insert into t", step.CopyWrite},
		{"Anywhere", own, wire.KindExecute, "insert /* osc:copy-write */ into t", step.CopyWrite},
		{"Prepare", own, wire.KindPrepare, "/* osc:copy-write */ insert into t", ""},
		{"OtherTool", own, wire.KindQuery, "/* gh-ost:copy-write */ insert into t", ""},
		{"NoStep", own, wire.KindQuery, "/* osc:two words */ select 1", ""},
		{"Open", own, wire.KindQuery, "/* osc:lock", ""},
		{"Dump", own, wire.KindDump, "", step.Dump},
		{"ZeroDump", wire.Phrasebook{}, wire.KindDump, "", step.Dump},
		{"Zero", wire.Phrasebook{}, wire.KindQuery, "/* osc:lock */ lock tables t write", ""},
		{"Pattern", foreign, wire.KindQuery, "LOCK TABLES t WRITE", step.Lock},
		{"Kind", foreign, wire.KindRegister, "", step.Attach},
		{"None", foreign, wire.KindQuery, "select 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.book.Step(c.kind, c.sql); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPhrasebookHas(t *testing.T) {
	foreign := wire.NewPhrasebook(wire.Phrase{Step: step.Lock, Pattern: rx(`^lock`)}, wire.Phrase{Step: step.Dump, Kind: wire.KindDump})
	for _, c := range []struct {
		name string
		book wire.Phrasebook
		step step.Step
		want bool
	}{
		{"Marked", wire.CommentPhrasebook("osc"), step.Verify, true},
		{"Phrase", foreign, step.Lock, true},
		{"Dump", foreign, step.Dump, true},
		{"None", foreign, step.Rename, false},
		{"ZeroDump", wire.Phrasebook{}, step.Dump, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.book.Has(c.step); got != c.want {
				t.Errorf("has %s: got %v, want %v", c.step, got, c.want)
			}
		})
	}
}
