package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"

	"rowproof/engine"
	"rowproof/harness/topology"
)

// What the new definition can't hold ends the migration with the row's name,
// and the original stays as it was.
func TestAbort(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	for _, c := range []struct {
		name, columns, rows, alter string
		says                       []string
	}{
		{"text too long", "id INT PRIMARY KEY, v VARCHAR(20)", "(1, 'short'), (2, 'far too long')", "MODIFY v VARCHAR(5)", []string{"`id` = 2: column `v`", "for column 'v'"}},
		{"number too big", "id INT PRIMARY KEY, v INT", "(1, 1), (7, 300)", "MODIFY v TINYINT", []string{"`id` = 7: column `v`", "Out of range value for column 'v'"}},
		{"NULL", "id INT PRIMARY KEY, v INT", "(1, 1), (9, NULL)", "MODIFY v INT NOT NULL", []string{"`id` = 9: column `v`", "'v' cannot be null"}},
		{"no member", "id INT PRIMARY KEY, v ENUM('a', 'b')", "(1, 'a'), (3, 'b')", "MODIFY v ENUM('a', 'c')", []string{"`id` = 3: column `v`"}},
		{"not JSON", "id INT PRIMARY KEY, v TEXT", "(1, '[1]'), (4, '[1')", "MODIFY v JSON", []string{"`id` = 4: column `v`", "Invalid JSON text"}},
		{"no geometry", "id INT PRIMARY KEY, v BLOB", "(1, NULL), (5, 'POINT(1 1)')", "MODIFY v GEOMETRY", []string{"`id` = 5: column `v`"}},
		{"no letter of the character set", "id INT PRIMARY KEY, v VARCHAR(20)", "(1, 'é'), (6, '日')", "MODIFY v VARCHAR(20) CHARACTER SET latin1", []string{"`id` = 6: column `v`", "Incorrect string value"}},
		{"duplicate", "id INT PRIMARY KEY, v VARCHAR(20)", "(1, 'x'), (2, 'y'), (3, 'x')", "ADD UNIQUE KEY uv (v)", []string{"duplicate value", "Duplicate entry 'x' for key 'uv'"}},
		{"duplicate under a new collation", "id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_bin UNIQUE", "(1, 'x'), (2, 'X')",
			"MODIFY v VARCHAR(20) COLLATE utf8mb4_general_ci", []string{"duplicate value", "Duplicate entry"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			execute(t, server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
				"CREATE TABLE "+schema+".t ("+c.columns+")", "INSERT INTO "+schema+".t VALUES "+c.rows)
			before := sum(t, server)
			got, log := osc(t, server, c.alter, "--verify=off")
			if got != engine.Aborted {
				t.Errorf("exit status: got %d, want %d", got, engine.Aborted)
			}
			lines := strings.Split(strings.TrimSpace(log), "\n")
			last := lines[len(lines)-1]
			for _, want := range append(c.says, "osc: aborted, the original is intact: ") {
				if !strings.Contains(last, want) {
					t.Errorf("last line: got %q, want it to say %q", last, want)
				}
			}
			if after := sum(t, server); after != before {
				t.Errorf("the original changed: before %s, after %s", before, after)
			}
			if left := count(t, server, "_t_new", "_t_osc", "_t_old"); left != 0 {
				t.Errorf("left behind: %d rows", left)
			}
		})
	}
}

// Unique values that pass from row to row while they are migrated under a
// new unique key are no duplicates.
func TestSwappedValuesAreNoDuplicates(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	execute(t, server.DB, "CREATE DATABASE "+schema, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))")
	for id := range 2000 {
		execute(t, server.DB, fmt.Sprintf("INSERT INTO %s.t VALUES (%d, 'value %d')", schema, id, id))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Two rows, often far apart, swap their values in one transaction.
			a, b := i*37%2000, (i*37+1000)%2000
			// It may lose a deadlock against the migration, and then just goes on.
			_, _ = server.DB.Exec(fmt.Sprintf("UPDATE %s.t x JOIN %s.t y ON x.id = %d AND y.id = %d SET x.v = y.v, y.v = x.v", schema, schema, a, b))
		}
	}()
	defer func() { close(stop); <-stopped }()
	if got, log := osc(t, server, "ADD UNIQUE KEY uv (v)", "--chunk-size=50"); got != engine.Completed {
		t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
	}
}

// The next AUTO_INCREMENT number goes on where the original's was, also after
// rows at the end were deleted.
func TestAutoIncrementGoesOn(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	for _, c := range []struct {
		alter string
		want  int
	}{
		{"MODIFY v BIGINT", 11},
		{"MODIFY v BIGINT, AUTO_INCREMENT = 100", 100},
		{"MODIFY v BIGINT, AUTO_INCREMENT = 5", 11},
	} {
		execute(t, server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
			"CREATE TABLE "+schema+".t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
			"INSERT INTO "+schema+".t VALUES (1, 1), (10, 10)", "DELETE FROM "+schema+".t WHERE id = 10")
		if got, log := osc(t, server, c.alter); got != engine.Completed {
			t.Fatalf("%s: exit status %d\n%s", c.alter, got, log)
		}
		result, err := server.DB.Exec("INSERT INTO " + schema + ".t (v) VALUES (0)")
		if err != nil {
			t.Fatal(err)
		}
		if id, err := result.LastInsertId(); err != nil || int(id) != c.want {
			t.Errorf("%s: next number: got %d (%v), want %d", c.alter, id, err, c.want)
		}
	}
}

// osc migrates the table t of a server and returns the outcome and the log.
func osc(t *testing.T, server *topology.Server, alter string, flags ...string) (engine.Outcome, string) {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MYSQL_PWD", topology.Migrator().Password)
	var stdout, stderr bytes.Buffer
	outcome := run(t.Context(), append(flags, "--host="+host, "--port="+port, "--user="+topology.Migrator().User,
		"--database="+topology.Database, "--table=t", "--alter="+alter, "--execute"), &stdout, &stderr)
	return outcome, stderr.String()
}

// sum is a digest of the table and its definition.
func sum(t *testing.T, server *topology.Server) string {
	t.Helper()
	var name, definition, rows string
	if err := server.DB.QueryRow("SHOW CREATE TABLE "+topology.Database+".t").Scan(&name, &definition); err != nil {
		t.Fatal(err)
	}
	if err := server.DB.QueryRow("CHECKSUM TABLE "+topology.Database+".t").Scan(&name, &rows); err != nil {
		t.Fatal(err)
	}
	return definition + " " + rows
}
