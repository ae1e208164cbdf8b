package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// planted is a difference between a migrated table and what it should be. Two
// judges must find it and name it: the harness, after the swap, and osc's own
// verify pass, before it. The pass compares rows; osc takes no table without a
// unique key, and leaves the new definition to the server.
type planted struct {
	name   string
	table  string   // its definition
	rows   string   // what is in it
	plant  []string // what makes the difference; NEW stands for the migrated table
	report []string // what the checkers say
	verify string   // what the verify pass says; "" if there is nothing for it to see
}

// A judge that can't see a difference hides every bug that leads to it.
// https://github.com/block/spirit/issues/916, 931, 942, 1028
// https://github.com/Shopify/ghostferry/issues/145
// https://github.com/vitessio/vitess/issues/20855
func plants() []planted {
	return []planted{
		{
			name: "BINARY", table: "(id INT PRIMARY KEY, b BINARY(4))", rows: "(1, X'0100'), (2, X'0100')",
			plant:  []string{"UPDATE NEW SET b = X'0101' WHERE id = 1"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: b is '0x01010000' and should be '0x01000000'."},
			verify: "row `id` = 1 differs in b",
		}, {
			name: "two changes that cancel under XOR", table: "(id INT PRIMARY KEY, v INT)", rows: "(1, 5), (2, 5), (3, 7)",
			plant: []string{"UPDATE NEW SET v = 6 WHERE id < 3"},
			report: []string{
				"altered value: Row 1 of t holds a value that nobody wrote: v is '6' and should be '5'.",
				"altered value: Row 2 of t holds a value that nobody wrote: v is '6' and should be '5'.",
			},
			verify: "row `id` = 1 differs in v; row `id` = 2 differs in v",
		}, {
			name: "two values exchanged", table: "(id INT PRIMARY KEY, v INT)", rows: "(1, 5), (2, 9)",
			plant: []string{"UPDATE NEW SET v = 14 - v"},
			report: []string{
				"altered value: Row 1 of t holds a value that nobody wrote: v is '9' and should be '5'.",
				"altered value: Row 2 of t holds a value that nobody wrote: v is '5' and should be '9'.",
			},
			verify: "row `id` = 1 differs in v; row `id` = 2 differs in v",
		}, {
			name: "a border between columns", table: "(id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9))", rows: "(1, 'x0', 'y')",
			plant:  []string{"UPDATE NEW SET a = 'x', b = '0y'"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: a is 'x' and should be 'x0'; b is '0y' and should be 'y'."},
			verify: "row `id` = 1 differs in a, b",
		}, {
			name: "NULL and an empty text", table: "(id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9))", rows: "(1, NULL, '')",
			plant:  []string{"UPDATE NEW SET a = '', b = NULL"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: a is '' and should be NULL; b is NULL and should be ''."},
			verify: "row `id` = 1 differs in a, b",
		}, {
			name: "1.0 and 1 in JSON", table: "(id INT PRIMARY KEY, j JSON)", rows: `(1, '{"a": 1.0}')`,
			plant:  []string{`REPLACE INTO NEW (id, j) VALUES (1, '{"a": 1}')`},
			report: []string{`altered value: Row 1 of t holds a value that nobody wrote: j is '{"a": 1}' and should be '{"a": 1.0}'.`},
			verify: "row `id` = 1 differs in j",
		}, {
			name: "1.0 and 1.0 in JSON, a DECIMAL and a DOUBLE", table: "(id INT PRIMARY KEY, j JSON)", rows: "(1, JSON_ARRAY(1.0))",
			plant: []string{"REPLACE INTO NEW (id, j) VALUES (1, JSON_ARRAY(1e0))"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: j is '[1.0]' (bytes " + fmt.Sprintf("%X", "[1.0]|ARRAY||DOUBLE") +
				") and should be '[1.0]' (bytes " + fmt.Sprintf("%X", "[1.0]|ARRAY||DECIMAL") + ")."},
			verify: "row `id` = 1 differs in j",
		}, {
			name: "FLOAT", table: "(id INT PRIMARY KEY, f FLOAT)", rows: "(1, 16777216)",
			plant: []string{"UPDATE NEW SET f = 16777215"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: f is '16777200' (bytes " + fmt.Sprintf("%X", "16777215") +
				") and should be '16777200' (bytes " + fmt.Sprintf("%X", "16777216") + ")."},
			verify: "row `id` = 1 differs in f",
		}, {
			name: "a trailing space", table: "(id INT PRIMARY KEY, a VARCHAR(9)) COLLATE utf8mb4_general_ci", rows: "(1, 'a')",
			plant:  []string{"UPDATE NEW SET a = 'a '"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: a is 'a ' and should be 'a'."},
			verify: "row `id` = 1 differs in a",
		}, {
			name: "letter case", table: "(id INT PRIMARY KEY, a VARCHAR(9)) COLLATE utf8mb4_general_ci", rows: "(1, 'a')",
			plant:  []string{"UPDATE NEW SET a = 'A'"},
			report: []string{"altered value: Row 1 of t holds a value that nobody wrote: a is 'A' and should be 'a'."},
			verify: "row `id` = 1 differs in a",
		}, {
			name: "letter case in the key", table: "(k VARCHAR(9) PRIMARY KEY) COLLATE utf8mb4_general_ci", rows: "('a')",
			plant:  []string{"UPDATE NEW SET k = 'A'"},
			report: []string{"altered value: Row a of t holds a value that nobody wrote: k is 'A' and should be 'a'."},
			verify: "row `k` = 'a' differs in k",
		}, {
			name: "a row twice, without a key", table: "(v INT)", rows: "(1), (2)",
			plant:  []string{"INSERT INTO NEW (v) VALUES (2)"},
			report: []string{"duplicate row: Row #… of t stands 2 times in the final table: (note=NULL, v='2')."},
		}, {
			name: "a row twice, where the key is lost", table: "(id INT PRIMARY KEY, v INT)", rows: "(1, 1), (2, 2)",
			plant: []string{"ALTER TABLE NEW DROP PRIMARY KEY", "INSERT INTO NEW (id, v) VALUES (2, 2)"},
			report: []string{
				"duplicate row: Row #… of t stands 2 times in the final table: (id='2', note=NULL, v='2').",
				"schema difference: The definition differs in index PRIMARY: MySQL's own ALTER gives PRIMARY KEY (`id`), the migration gave nothing.",
			},
		}, {
			name: "as many rows, and one another", table: "(id INT PRIMARY KEY, v INT)", rows: "(1, 1), (2, 2), (4, 4)",
			plant: []string{"UPDATE NEW SET id = 3 WHERE id = 2"},
			report: []string{
				"lost row: Row 2 of t is missing in the final table; it should be (id='2', note=NULL, v='2').",
				"resurrected row: Row 3 of t is in the final table as (id='3', note=NULL, v='2'); there should be no such row.",
			},
			verify: "row `id` = 2 is missing in the shadow; row `id` = 3 is in the shadow alone",
		}, {
			name: "a missing index", table: "(id INT PRIMARY KEY, v INT, KEY by_v (v))", rows: "(1, 1)",
			plant:  []string{"ALTER TABLE NEW DROP INDEX by_v"},
			report: []string{"schema difference: The definition differs in index by_v: MySQL's own ALTER gives KEY `by_v` (`v`), the migration gave nothing."},
		}, {
			name: "a lost default", table: "(id INT PRIMARY KEY, v INT DEFAULT 7)", rows: "(1, 1)",
			plant:  []string{"ALTER TABLE NEW ALTER COLUMN v DROP DEFAULT"},
			report: []string{"schema difference: The definition differs in column v: MySQL's own ALTER gives int DEFAULT '7', the migration gave int."},
		}, {
			name: "a lost AUTO_INCREMENT", table: "(id INT PRIMARY KEY AUTO_INCREMENT, v INT)", rows: "(1, 1)",
			plant: []string{"ALTER TABLE NEW MODIFY id INT NOT NULL"},
			report: []string{
				"schema difference: The definition differs in column id: MySQL's own ALTER gives int NOT NULL AUTO_INCREMENT, the migration gave int NOT NULL.",
				"schema difference: The definition differs in option AUTO_INCREMENT: MySQL's own ALTER gives 2, the migration gave 1.",
			},
		}, {
			name: "a next AUTO_INCREMENT number that was given before", table: "(id INT PRIMARY KEY AUTO_INCREMENT, v INT) AUTO_INCREMENT = 50", rows: "(1, 1)",
			plant:  []string{"ALTER TABLE NEW AUTO_INCREMENT = 2"},
			report: []string{"schema difference: The definition differs in option AUTO_INCREMENT: MySQL's own ALTER gives 50, the migration gave 2."},
		},
	}
}

// plantedAlter is the migration, of which every table above has its part.
const plantedAlter = "ADD COLUMN note INT"

func TestJudgesSeePlantedDifferences(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	empty := []string{"DROP DATABASE IF EXISTS " + schema, "CREATE DATABASE " + schema}
	for _, p := range plants() {
		t.Run(p.name+"/checkers", func(t *testing.T) {
			execute(t, server.DB, empty...)
			execute(t, server.DB, p.make("_t_old")...)
			execute(t, server.DB, p.make("t")...)
			execute(t, server.DB, "ALTER TABLE "+schema+".t "+plantedAlter)
			if d := cmp.Diff([]string(nil), judged(t, server)); d != "" {
				t.Fatalf("report before anything is planted (-want +got):\n%s", d)
			}
			sessions(t, t.Context(), server.DB, p.planting("t"))
			if d := cmp.Diff(p.report, judged(t, server)); d != "" {
				t.Errorf("report (-want +got):\n%s", d)
			}
		})
		if p.verify == "" {
			continue
		}
		t.Run(p.name+"/verify", func(t *testing.T) {
			execute(t, server.DB, empty...)
			execute(t, server.DB, p.make("t")...)
			got, log := through(t, server, nil, wire.Rule{Step: step.Verify, Occurrence: 1}, func(ctx context.Context) {
				sessions(t, ctx, server.DB, p.planting("_t_new"))
			}, "--alter="+plantedAlter)
			stopped(t, server, got, log, "verify: shadow differs from original: "+p.verify)
			if !strings.HasSuffix(log, p.verify+"\n") {
				t.Errorf("log: got %q, want it to end with %q", log, p.verify)
			}
		})
	}
}

// make returns what makes the table as it was before the migration.
func (p planted) make(name string) []string {
	table := topology.Database + "." + name
	return []string{"CREATE TABLE " + table + " " + p.table, "INSERT INTO " + table + " VALUES " + p.rows}
}

// planting returns what makes the difference in a table, unseen by the binlog.
func (p planted) planting(table string) []string {
	statements := []string{"SET SESSION sql_log_bin = 0"}
	for _, s := range p.plant {
		statements = append(statements, strings.Replace(s, "NEW", table, 1))
	}
	return statements
}

// hash is how a row without a key is named.
var hash = regexp.MustCompile("#[0-9a-f]{12}")

// judged observes what a migration of t has left, as the harness does, and
// returns what the checkers find.
func judged(t *testing.T, server *topology.Server) (report []string) {
	t.Helper()
	ctx, db := t.Context(), server.DB
	old := observe.TableRef{Schema: topology.Database, Name: "_t_old"}
	record := history.Record{
		Scenario: t.Name(), Subject: "osc", Expect: subject.Completed, Exit: history.Exit{Outcome: subject.Completed},
		Table: history.Table{Schema: old.Schema, Name: "t", Alter: plantedAlter},
	}
	oracle, err := observe.Oracle(ctx, db, old, plantedAlter)
	want, got := observe.Side{DB: db, Table: oracle}, observe.Side{DB: db, Table: observe.TableRef{Schema: old.Schema, Name: "t"}}
	if err == nil {
		record.Observed.Comparison, err = observe.Compare(ctx, want, got, observe.Options{})
	}
	if err == nil {
		record.Observed.Schema, err = observe.Schema(ctx, want, got)
	}
	if err := errors.Join(err, observe.DropOracle(ctx, db, oracle)); err != nil {
		t.Fatal(err)
	}
	judgement := check.Judge(&record)
	for _, a := range judgement.Anomalies() {
		report = append(report, hash.ReplaceAllString(fmt.Sprintf("%s: %s", a.Kind, a.Text), "#…"))
	}
	if doubts := judgement.Reasons(); len(doubts) > 0 {
		t.Errorf("in doubt: %q", doubts)
	}
	return report
}
