package checkpoint

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/engine/ddl"
)

func document() Document {
	return Document{
		Format: Format, Engine: "v1",
		Migration: Migration{Server: "uuid", Table: "s.t", Alter: "FORCE", Key: "PRIMARY", Original: "a", Shadow: "b"},
		Deferred:  Deferred{Indexes: []ddl.Index{{Name: "k", Definition: "KEY `k` (`a`)"}}, Wanted: "CREATE TABLE …"},
		Progress: Progress{File: "binlog.000001", Pos: 4, GTIDs: "uuid:1-7", Rows: 9, After: ddl.Tuple{
			"7", "-7.25", "_utf8mb4 X'41C3A9'", "_binary X''", "DATE'2024-02-29'", "TIME'-12:00:00.5'", "TIMESTAMP'2024-02-29 01:02:03.000001+00:00'",
		}},
	}
}

func text(t *testing.T, d Document) string {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParse(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		want := document()
		got, err := parse(text(t, want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("document (-want +got):\n%s", diff)
		}
	})
	t.Run("ErrFormat", func(t *testing.T) {
		d := document()
		d.Format = Format + 1
		var refusal *ddl.Refusal
		if _, err := parse(text(t, d)); !errors.As(err, &refusal) {
			t.Errorf("got %v, want a refusal", err)
		}
	})
	for _, bad := range []string{"", "1 OR TRUE", "_utf8mb4 X'41' OR 1", "id", "'text'", "DATE'2024-01-01' OR '1'", "1)", "1\n", "_x X'4g'"} {
		t.Run("ErrKey/"+bad, func(t *testing.T) {
			d := document()
			d.Progress.After = ddl.Tuple{"1", bad}
			if _, err := parse(text(t, d)); err == nil {
				t.Errorf("key part %q: got no error", bad)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	now := document().Migration
	if err := document().Validate(now); err != nil {
		t.Errorf("the same migration: got %v", err)
	}
	for says, change := range map[string]func(*Migration){
		"another server answers":                    func(m *Migration) { m.Server = "other" },
		"of another table":                          func(m *Migration) { m.Table = "s.u" },
		"made by another ALTER":                     func(m *Migration) { m.Alter = "ENGINE = InnoDB" },
		"changed the definition of the table":       func(m *Migration) { m.Original = "c" },
		"changed the definition of the shadow":      func(m *Migration) { m.Shadow = "c" },
		"rows are found by another key (key was \"": func(m *Migration) { m.Key = "u" },
	} {
		other := now
		change(&other)
		var refusal *ddl.Refusal
		if err := document().Validate(other); !errors.As(err, &refusal) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want a refusal that says %q", err, says)
		}
	}
}

// Inserts change the next AUTO_INCREMENT number; nothing else of a
// definition may differ.
func TestFingerprint(t *testing.T) {
	a := "CREATE TABLE `t` (\n  `id` int COMMENT ') ENGINE=x AUTO_INCREMENT=1'\n) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4"
	same := strings.Replace(a, "AUTO_INCREMENT=7", "AUTO_INCREMENT=8", 1)
	without := strings.Replace(a, " AUTO_INCREMENT=7", "", 1)
	other := strings.Replace(a, "AUTO_INCREMENT=1", "AUTO_INCREMENT=2", 1)
	if Fingerprint(a) != Fingerprint(same) || Fingerprint(a) != Fingerprint(without) {
		t.Error("the next number changes the fingerprint")
	}
	if Fingerprint(a) == Fingerprint(other) {
		t.Error("a comment does not change the fingerprint")
	}
}
