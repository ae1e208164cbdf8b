package timeline

import (
	"cmp"
	"slices"
	"strings"

	"rowproof/harness/history"
)

const groupFaults = "faults"

// addFaults adds the faults, a lane for each moment at which some fire. One
// that ends is a span; the mark of its end carries its label.
func (b *builder) addFaults() {
	open := map[string]*Item{}
	var all []*Item
	var fired []string
	for _, m := range b.in.Record.Marks {
		switch m.Name {
		case history.MarkFaultFired:
			name := cmp.Or(m.Data["fault"], m.Text, "fault")
			fired = append(fired, name)
			moment, action, ok := strings.Cut(name, ": ")
			if !ok {
				action = name
			}
			i := &Item{Lane: b.lane(groupFaults, moment), From: m.At, To: m.At, Kind: Fault, Turn: true, Label: action, Note: "this fault took effect"}
			all = append(all, i)
			open[cmp.Or(m.Data["label"], name)] = i
		case history.MarkFaultEnded:
			if i := open[cmp.Or(m.Data["label"], m.Data["fault"])]; i != nil {
				i.To, i.Note = m.At, "this fault went on until it was ended"
				continue
			}
			name := cmp.Or(m.Text, m.Data["label"], "fault")
			all = append(all, &Item{Lane: b.lane(groupFaults, name), From: m.At, To: m.At, Kind: Fault, Turn: true, Label: name, Note: "this fault ended"})
		}
	}
	for _, i := range all {
		b.add(*i)
	}
	for _, name := range b.in.Record.Planned {
		if !slices.Contains(fired, name) {
			b.lane(groupFaults, "never fired: "+name)
		}
	}
}
