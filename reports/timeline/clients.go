package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

const groupApplication = "application"

// addClients adds a lane for each client, with its operations.
func (b *builder) addClients() {
	var clients []string
	for _, op := range b.in.Record.Ops {
		clients = append(clients, op.Client)
	}
	slices.SortFunc(clients, natural)
	for _, c := range slices.Compact(clients) {
		b.lane(groupApplication, clientName(c))
	}
	for _, op := range b.in.Record.Ops {
		i := Item{
			Lane: b.lane(groupApplication, clientName(op.Client)), From: op.Invoke, To: op.Return, Kind: opKind(op),
			Label: opLabel(op), Text: opText(op), Note: opNote(op), Row: b.row.inOp(op),
		}
		if op.Return == 0 {
			i.To, i.Open = b.end, true
		}
		b.add(i)
	}
}

// clientName names the client that sends the writes of the faults for what it
// does.
func clientName(client string) string {
	if client == "fault" {
		return "planned writes"
	}
	return client
}

func opKind(op history.Op) Kind {
	switch {
	case op.Outcome == history.Failed:
		return Refused
	case op.Outcome == history.Unknown:
		return Unsure
	case len(op.Changes) == 0:
		return Read
	}
	return Write
}

func opLabel(op history.Op) string {
	var keys []string
	for _, c := range op.Changes {
		key := string(c.Key)
		if c.Kind == history.Move {
			key += " → " + string(c.NewKey)
		}
		keys = append(keys, key)
	}
	const most = 3
	if n := len(keys); n > most {
		keys = append(keys[:most], fmt.Sprintf("… (%d rows)", n))
	}
	return strings.TrimSpace(strings.ToUpper(op.Kind) + " " + strings.Join(keys, ", "))
}

// opText is what an operation sent, or, if its statements are not recorded,
// what it meant to change.
func opText(op history.Op) string {
	if len(op.SQL) > 0 {
		return strings.Join(op.SQL, ";\n")
	}
	var lines []string
	for _, c := range op.Changes {
		line := string(c.Kind) + " row " + string(c.Key)
		if len(c.Set) > 0 {
			line += ": " + check.Show(c.Set)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func opNote(op history.Op) string {
	note := map[history.Outcome]string{
		history.OK: "acknowledged", history.Failed: "refused", history.Unknown: "outcome unknown",
	}[op.Outcome]
	if op.Outcome == history.OK && len(op.Changes) == 0 {
		note = "answered"
	}
	if op.Return == 0 {
		note = "never answered"
	}
	for _, k := range slices.Sorted(maps.Keys(op.Saw)) {
		note += fmt.Sprintf("; row %s was %s", k, check.Show(op.Saw[k]))
	}
	note = fmt.Sprintf("operation %d: %s", op.ID, note)
	if op.Code != 0 {
		note += fmt.Sprintf(", error %d", op.Code)
	}
	if op.Error != "" {
		note += ", " + op.Error
	}
	return note
}

// natural orders names by their text, with writer-2 before writer-10.
func natural(a, b string) int {
	if x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789"); x == y && len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
