package fault_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// The binlog shows in what form a session's write went there.
func TestWriteWith(t *testing.T) {
	r := newRig(t, plain, false)
	n := 0
	for _, c := range []struct {
		settings fault.Settings
		want     string // an event's type; "" is none at all
		column   string // written; "" is a plain update of all of them
	}{
		{fault.Settings{}, "Update_rows", ""},
		{fault.Settings{"binlog_format": "STATEMENT"}, "Query", ""},
		{fault.Settings{"binlog_format": "MIXED"}, "Query", ""},
		{fault.Settings{"binlog_transaction_compression": "ON"}, "Transaction_payload", ""},
		{fault.Settings{"sql_log_bin": "0"}, "", ""},
		{fault.Settings{"time_zone": "+05:00", "sql_mode": "ANSI_QUOTES,STRICT_ALL_TABLES"}, "Update_rows", ""},
		{fault.Settings{"collation_connection": "latin1_swedish_ci", "character_set_client": "latin1"}, "Update_rows", ""},
	} {
		action := fault.WriteWith(c.settings, workload.Update(r.Table, "1", history.Row{"name": history.Text("x")}))
		t.Run("OK/"+strings.TrimPrefix(action.Name, "write UPDATE `pair` SET `name` = 'x' WHERE `id` = 1 with "), func(t *testing.T) {
			n++
			value := strings.Repeat("v", n)
			from := r.end(t)
			r.do(t, fault.WriteWith(c.settings, workload.Update(r.Table, "1", history.Row{"name": history.Text(value)})))
			var got string
			if err := r.App.QueryRowContext(t.Context(), "SELECT name FROM pair WHERE id = 1").Scan(&got); err != nil || got != value {
				t.Errorf("name: got %q, %v, want %q", got, err, value)
			}
			if op := r.last(); op.Outcome != history.OK {
				t.Errorf("operation: got %+v, want it acknowledged", op)
			}
			events, _ := r.events(t, from)
			if c.want == "" && len(events) > 0 || c.want != "" && !slices.Contains(events, c.want) {
				t.Errorf("events: got %q, want %q among them", events, c.want)
			}
			if c.want == "Query" && slices.Contains(events, "Update_rows") {
				t.Errorf("events: got %q, want no row event", events)
			}
		})
	}

	t.Run("OK/RowImage", func(t *testing.T) {
		size := map[string]int{}
		for _, image := range []string{"FULL", "MINIMAL", "NOBLOB"} {
			n++
			from := r.end(t)
			r.do(t, fault.WriteWith(fault.Settings{"binlog_row_image": image},
				workload.Update(r.Table, "2", history.Row{"val": history.Text(fmt.Sprint(n))})))
			_, size[image] = r.events(t, from)
		}
		if size["MINIMAL"] >= size["FULL"] {
			t.Errorf("bytes of the row event: got %v, want fewer in a minimal image", size)
		}
	})

	t.Run("OK/PartialJSON", func(t *testing.T) {
		r.exec(t, "ALTER TABLE pair ADD COLUMN doc JSON")
		r.exec(t, `UPDATE pair SET doc = '{"a": "a long value that need not be sent", "b": 1}' WHERE id = 3`)
		from := r.end(t)
		r.do(t, fault.WriteWith(fault.Settings{"binlog_row_value_options": "PARTIAL_JSON"}, workload.Write{
			SQL:     "UPDATE pair SET doc = JSON_SET(doc, '$.b', 2) WHERE id = 3",
			Changes: []history.Change{{Kind: history.Update, Key: "3", Set: history.Row{"doc": history.Text(`{"a": "a long value that need not be sent", "b": 2}`)}}},
		}))
		if events, _ := r.events(t, from); !slices.Contains(events, "Update_rows_partial") {
			t.Errorf("events: got %q, want a partial update", events)
		}
	})

	t.Run("ErrNoSuchSetting", func(t *testing.T) {
		before := len(r.Recorder.Ops())
		if err := r.try(fault.WriteWith(fault.Settings{"no_such": "1"}, workload.Delete(r.Table, "1"))); err == nil {
			t.Error("got no error")
		}
		if got := len(r.Recorder.Ops()); got != before {
			t.Errorf("operations: got %d, want %d: nothing was written", got, before)
		}
	})
}

func (r *rig) end(t *testing.T) topology.Position {
	t.Helper()
	end, err := r.Cluster.Source().BinlogEnd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return end
}

// events returns the types of the binlog's events after a position, and the
// bytes of the last row event.
func (r *rig) events(t *testing.T, from topology.Position) (types []string, size int) {
	t.Helper()
	if r.end(t).Pos == from.Pos {
		return nil, 0
	}
	rows, err := r.Cluster.Source().DB.QueryContext(t.Context(), "SHOW BINLOG EVENTS IN '"+from.File+"' FROM "+fmt.Sprint(from.Pos))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { closing(t, rows.Close) }()
	for rows.Next() {
		var file, kind, info string
		var start, server, end int
		if err := rows.Scan(&file, &start, &kind, &server, &end, &info); err != nil {
			t.Fatal(err)
		}
		if kind == "Query" && info == "BEGIN" {
			continue
		}
		if kind == "Update_rows" {
			size = end - start
		}
		types = append(types, kind)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return types, size
}
