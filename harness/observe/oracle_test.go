package observe_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

func TestOracle(t *testing.T) {
	cluster := server(t, topology.Spec{GTID: true, Replicas: 1})
	db := cluster.Source().DB
	fill(t, db, "old", "id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9), t TIMESTAMP NULL, g INT AS (CHAR_LENGTH(v)) STORED, CHECK (v <> 'no')", "")
	run(t, db,
		"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
		"INSERT INTO "+schema+".old (id, v, t) VALUES (0, 'zero', NULL), (1, NULL, '0000-00-00'), (2, 'x', '2020-06-01'), (40, 'tail', NULL)",
		"DELETE FROM "+schema+".old WHERE id = 40",
		"SET SESSION sql_mode = DEFAULT")

	t.Run("OK", func(t *testing.T) {
		before, err := observe.BinlogEnd(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		oracle, err := observe.Oracle(t.Context(), db, table("old"), "ADD COLUMN n INT NOT NULL DEFAULT 7, ENGINE=InnoDB")
		if err != nil {
			t.Fatal(err)
		}
		after, err := observe.BinlogEnd(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if before != after {
			t.Errorf("the binlog grew from %v to %v", before, after)
		}
		run(t, db, "CREATE TABLE "+schema+".same LIKE "+schema+".old", "ALTER TABLE "+schema+".same ADD COLUMN n INT NOT NULL DEFAULT 7, AUTO_INCREMENT = 41",
			"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
			"INSERT INTO "+schema+".same (id, v, t) SELECT id, v, t FROM "+schema+".old", "SET SESSION sql_mode = DEFAULT")
		want, got := observe.Side{DB: db, Table: oracle}, observe.Side{DB: db, Table: table("same")}
		c, err := observe.Compare(t.Context(), want, got, observe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Rows != 3 || len(c.Diffs) > 0 {
			t.Errorf("got %d rows and %v, want 3 and no difference", c.Rows, reported(c))
		}
		if got := objects(t, want, got); len(got) > 0 {
			t.Errorf("got differences in %q, want none", got)
		}
		if err := observe.DropOracle(t.Context(), db, oracle); err != nil {
			t.Fatal(err)
		}
		if err := cluster.WaitReplicated(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("Err refused by the server", func(t *testing.T) {
		oracle, err := observe.Oracle(t.Context(), db, table("old"), "MODIFY v VARCHAR(2)")
		if !errors.Is(err, observe.ErrRefused) {
			t.Errorf("got %v for a value that does not fit, want ErrRefused", err)
		}
		if err := observe.DropOracle(t.Context(), db, oracle); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("OK replica equals source", func(t *testing.T) {
		run(t, db, "CREATE TABLE "+schema+".r (id INT PRIMARY KEY, v INT)", "INSERT INTO "+schema+".r VALUES (1, 1), (2, 2)")
		if err := cluster.WaitReplicated(t.Context()); err != nil {
			t.Fatal(err)
		}
		replica := observe.Side{DB: cluster.Replicas()[0].DB, Table: table("r")}
		source := observe.Side{DB: db, Table: table("r")}
		c, err := observe.Compare(t.Context(), source, replica, observe.Options{})
		if err != nil || len(c.Diffs) > 0 {
			t.Fatalf("got %v, %v, want no difference", c.Diffs, err)
		}
		run(t, replica.DB, "SET SESSION sql_log_bin = 0", "UPDATE "+schema+".r SET v = 3 WHERE id = 2", "SET SESSION sql_log_bin = 1")
		if c, err = observe.Compare(t.Context(), source, replica, observe.Options{}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"2: v"}, reported(c)); d != "" {
			t.Errorf("report (-want +got):\n%s", d)
		}
	})
}
