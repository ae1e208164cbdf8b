package scenarios_test

import (
	"testing"

	"rowproof/fixtures"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

// CREATE TABLE ... SELECT was reported beside SAVEPOINT as a statement in the
// middle of a transaction. It can't cost the migrated table a change: the
// server commits what came before as a transaction of its own, and what follows
// the statement in its own transaction are rows of the table that it makes.
func TestCreateSelectStandsAlone(t *testing.T) {
	skipListed(t)
	cluster, err := topology.Start(t.Context(), single)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	}()
	db := cluster.Source().DB
	run := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	db.SetMaxOpenConns(1) // one session
	run("CREATE DATABASE " + topology.Database)
	if err := fixtures.Pair().Load(t.Context(), db, topology.Database); err != nil {
		t.Fatal(err)
	}
	pair := observe.TableRef{Schema: topology.Database, Name: "pair"}
	definition, err := observe.Describe(t.Context(), db, pair)
	if err != nil {
		t.Fatal(err)
	}
	from, err := observe.BinlogEnd(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	run("USE " + topology.Database)
	run("BEGIN")
	run("UPDATE pair SET name = 'before' WHERE id = 1")
	run("CREATE TABLE made (PRIMARY KEY (id)) SELECT * FROM pair")
	run("UPDATE pair SET name = 'after' WHERE id = 2")
	run("COMMIT")
	rows, err := observe.Binlog(t.Context(), db, observe.BinlogSource{
		Server: cluster.Source().Config(topology.Root(), ""), From: from,
		Schema: topology.Database, Table: "pair", Others: []string{"made"}, Before: definition, After: definition,
	})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]map[string]int{} // of each transaction
	for _, r := range rows {
		if r.Kind == "ddl" {
			continue
		}
		if tables[r.GTID] == nil {
			tables[r.GTID] = map[string]int{}
		}
		tables[r.GTID][r.Table]++
	}
	changed, made := 0, 0
	for gtid, count := range tables {
		changed, made = changed+count["pair"], made+count["made"]
		if len(count) > 1 {
			t.Errorf("transaction %s changed %v, want one table", gtid, count)
		}
	}
	if len(tables) != 3 || changed != 2 || made != 3 {
		t.Errorf("got %d transactions with %d changes of pair and %d of made, want 3, 2 and 3", len(tables), changed, made)
	}
}
