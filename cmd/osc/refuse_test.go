package main

import (
	"bytes"
	"context"
	"database/sql"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rowproof/engine"
	"rowproof/harness/topology"
)

func TestMain(m *testing.M) {
	// The SQL parser's logging library starts it at init, for good.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// Everything that osc can't do safely is told in one line, with the exit
// status that says whether anything was begun, and the server stays as it is.
func TestRefuse(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	execute(t, server.DB,
		"CREATE DATABASE "+schema,
		"CREATE TABLE "+schema+".good (id INT PRIMARY KEY, name VARCHAR(20))",
		"INSERT INTO "+schema+".good VALUES (1, 'one'), (2, 'two')",
		"CREATE TABLE "+schema+".keyless (id INT, name VARCHAR(20))",
		"CREATE TABLE "+schema+".nullable (id INT NULL UNIQUE)",
		"CREATE TABLE "+schema+".floating (id DOUBLE PRIMARY KEY)",
		"CREATE TABLE "+schema+".parent (id INT PRIMARY KEY)",
		"CREATE DATABASE elsewhere",
		"CREATE TABLE "+schema+".far (id INT PRIMARY KEY)",
		"CREATE TABLE elsewhere.child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES "+schema+".far (id))",
		"CREATE TABLE "+schema+".child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id))",
		"CREATE TABLE "+schema+".watched (id INT PRIMARY KEY)",
		"CREATE TRIGGER "+schema+".watch BEFORE INSERT ON "+schema+".watched FOR EACH ROW SET @x = 1",
		"CREATE TABLE "+schema+".taken (id INT PRIMARY KEY)",
		"CREATE TABLE "+schema+"._taken_new (id INT PRIMARY KEY)",
		"CREATE TABLE "+schema+".kept (id INT PRIMARY KEY)",
		"CREATE TABLE "+schema+"._kept_old (id INT PRIMARY KEY)",
		"CREATE VIEW "+schema+".seen AS SELECT * FROM "+schema+".good",
		"CREATE USER poor IDENTIFIED BY 'poor'",
		"GRANT SELECT, INSERT ON "+schema+".* TO poor",
	)
	good := map[string]string{"--user": topology.Migrator().User, "--database": schema, "--table": "good", "--alter": "ADD COLUMN note TEXT"}
	for _, c := range []struct {
		name     string
		change   map[string]string
		password string
		set      string // a statement for the server before
		unset    string // and after
		want     engine.Outcome
		says     string
	}{
		{name: "wrong password", password: "nonsense", want: engine.Refused, says: "Access denied for user 'migrator'"},
		{name: "no privileges", change: map[string]string{"--user": "poor"}, password: "poor", want: engine.Refused,
			says: "user poor: it lacks REPLICATION SLAVE ON *.*, REPLICATION CLIENT ON *.*, PROCESS ON *.*, UPDATE ON `rowproof`.*"},
		{name: "no such schema", change: map[string]string{"--database": "rowproof_none"}, want: engine.Refused, says: "rowproof_none"},
		{name: "no such table", change: map[string]string{"--table": "bad"}, want: engine.Refused, says: "table rowproof.bad: there is no such table"},
		{name: "view", change: map[string]string{"--table": "seen"}, want: engine.Refused, says: "it is a view"},
		{name: "no key", change: map[string]string{"--table": "keyless"}, want: engine.Refused, says: "it has no primary or unique key; add a primary key first"},
		{name: "nullable key", change: map[string]string{"--table": "nullable"}, want: engine.Refused, says: "its column `id` can be NULL"},
		{name: "floating key", change: map[string]string{"--table": "floating"}, want: engine.Refused, says: "its column `id` is double"},
		{name: "foreign key of its own", change: map[string]string{"--table": "child"}, want: engine.Refused, says: "foreign keys of rowproof.child"},
		{name: "foreign key of another", change: map[string]string{"--table": "parent"}, want: engine.Refused, says: "foreign keys of rowproof.parent"},
		{name: "foreign key of a schema that the user can't see", change: map[string]string{"--table": "far"}, want: engine.Refused,
			says: "foreign keys of rowproof.far"},
		{name: "trigger", change: map[string]string{"--table": "watched"}, want: engine.Refused, says: "triggers of rowproof.watched: `watch`"},
		{name: "shadow name taken", change: map[string]string{"--table": "taken"}, want: engine.Refused, says: "rowproof._taken_new exists"},
		{name: "old name taken", change: map[string]string{"--table": "kept"}, want: engine.Refused, says: "rowproof._kept_old exists"},
		{name: "malformed ALTER", change: map[string]string{"--alter": "ADD COLUM note TEXT"}, want: engine.Usage, says: "syntax error at position"},
		{name: "ALTER that renames the table", change: map[string]string{"--alter": "RENAME TO better"}, want: engine.Refused, says: "RENAME TO better"},
		{name: "two statements", change: map[string]string{"--alter": "ADD COLUMN a INT; DROP TABLE good"}, want: engine.Refused, says: "several statements"},
		{name: "no ALTER", change: map[string]string{"--alter": ""}, want: engine.Usage, says: "--alter is missing"},
		{name: "no table", change: map[string]string{"--table": ""}, want: engine.Usage, says: "--table is missing"},
		{name: "indexes neither now nor later", change: map[string]string{"--defer-secondary-indexes": "maybe"}, want: engine.Usage,
			says: "--defer-secondary-indexes=maybe: want auto, on or off"},
		{name: "unknown flag", change: map[string]string{"--exceute": ""}, want: engine.Usage, says: "unknown flag: --exceute"},
		{name: "STATEMENT format", set: "SET GLOBAL binlog_format = STATEMENT", unset: "SET GLOBAL binlog_format = ROW",
			want: engine.Refused, says: "binlog_format=STATEMENT: changes logged as statements name no rows"},
		{name: "packets too small", set: "SET GLOBAL max_allowed_packet = 524288", unset: "SET GLOBAL max_allowed_packet = DEFAULT",
			want: engine.Refused, says: "max_allowed_packet=524288: statements of a thousand keys would not fit"},
		{name: "compression that takes too much memory", set: "SET GLOBAL binlog_transaction_compression_level_zstd = 21",
			unset: "SET GLOBAL binlog_transaction_compression_level_zstd = DEFAULT",
			want:  engine.Refused, says: "binlog_transaction_compression_level_zstd=21"},
		{name: "read-only server", set: "SET GLOBAL read_only = ON", unset: "SET GLOBAL read_only = OFF", want: engine.Refused, says: "it is read-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.set != "" {
				execute(t, server.DB, c.set)
				defer execute(t, server.DB, c.unset)
			}
			before := state(t, server.DB)
			if c.password == "" {
				c.password = topology.Migrator().Password
			}
			checkRefusal(t, server, arguments(good, c.change), c.password, c.want, c.says)
			if after := state(t, server.DB); after != before {
				t.Errorf("the server changed:\nbefore %s\nafter  %s", before, after)
			}
		})
	}
}

func TestRefuseWithoutBinlog(t *testing.T) {
	server := start(t, topology.Spec{Options: []string{"--skip-log-bin"}})
	execute(t, server.DB, "CREATE DATABASE "+topology.Database, "CREATE TABLE "+topology.Database+".good (id INT PRIMARY KEY)")
	args := arguments(map[string]string{
		"--user": topology.Migrator().User, "--database": topology.Database, "--table": "good", "--alter": "ADD COLUMN note TEXT",
	}, nil)
	before := state(t, server.DB)
	checkRefusal(t, server, args, topology.Migrator().Password, engine.Refused, "its binary log is off (log_bin=OFF)")
	if after := state(t, server.DB); after != before {
		t.Errorf("the server changed:\nbefore %s\nafter  %s", before, after)
	}
}

// What the binlog is told to leave out is refused, and so are GTIDs where not
// every transaction has one.
func TestRefuseFilteredBinlog(t *testing.T) {
	for _, c := range []struct {
		option, flag, says string
	}{
		{"--binlog-ignore-db=" + topology.Database, "--gtid=false", "its changes are kept out of the binary log (binlog_ignore_db=" + topology.Database + ")"},
		{"--binlog-do-db=other", "--gtid=false", "its changes are kept out of the binary log (binlog_do_db=other)"},
		{"--gtid-mode=ON_PERMISSIVE", "--gtid", "--gtid: not every transaction has a GTID (gtid_mode=ON_PERMISSIVE)"},
	} {
		t.Run(c.option, func(t *testing.T) {
			server := start(t, topology.Spec{GTID: true, Options: []string{c.option}})
			execute(t, server.DB, "CREATE DATABASE "+topology.Database, "CREATE TABLE "+topology.Database+".good (id INT PRIMARY KEY)")
			args := arguments(map[string]string{
				"--user": topology.Migrator().User, "--database": topology.Database, "--table": "good", "--alter": "ADD COLUMN note TEXT",
			}, nil)
			checkRefusal(t, server, append(args, c.flag), topology.Migrator().Password, engine.Refused, c.says)
		})
	}
}

// A replica that keeps what it replicates out of its own binlog is refused.
func TestRefuseReplicaWithoutLog(t *testing.T) {
	cluster, err := topology.Start(t.Context(), topology.Spec{GTID: true, Replicas: 1, ReplicaOptions: []string{"--log-replica-updates=OFF"}})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	replica := cluster.Replicas()[0]
	execute(t, replica.DB, "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF", "SET sql_log_bin = 0",
		"CREATE DATABASE "+topology.Database, "CREATE TABLE "+topology.Database+".good (id INT PRIMARY KEY)")
	args := arguments(map[string]string{
		"--user": topology.Migrator().User, "--database": topology.Database, "--table": "good", "--alter": "ADD COLUMN note TEXT",
	}, nil)
	checkRefusal(t, replica, args, topology.Migrator().Password, engine.Refused, "log_replica_updates=OFF")
}

// Privileges may come by a role, as long as it is active.
func TestPrivilegesByRole(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const schema = topology.Database
	execute(t, server.DB, "CREATE DATABASE "+schema, "CREATE TABLE "+schema+".t (id INT PRIMARY KEY, v INT)",
		"CREATE ROLE migrate, follow", "GRANT ALL ON "+schema+".* TO migrate", "GRANT REPLICATION SLAVE, REPLICATION CLIENT, PROCESS ON *.* TO follow",
		"CREATE USER by_role IDENTIFIED BY 'role'", "GRANT migrate, follow TO by_role")
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MYSQL_PWD", "role")
	migrate := func() (engine.Outcome, string) {
		var stdout, stderr bytes.Buffer
		outcome := run(t.Context(), []string{"--host=" + host, "--port=" + port, "--user=by_role", "--database=" + schema, "--table=t",
			"--alter=MODIFY v BIGINT", "--execute"}, &stdout, &stderr)
		return outcome, stderr.String()
	}
	if got, log := migrate(); got != engine.Refused || !strings.Contains(log, "Access denied") && !strings.Contains(log, "it lacks") {
		t.Errorf("without active roles: got exit status %d, want %d\n%s", got, engine.Refused, log)
	}
	execute(t, server.DB, "SET DEFAULT ROLE ALL TO by_role")
	if got, log := migrate(); got != engine.Completed {
		t.Errorf("with active roles: got exit status %d, want %d\n%s", got, engine.Completed, log)
	}
}

func TestRefuseWithoutServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String() // nobody listens there once it is closed
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	args := arguments(map[string]string{"--user": "any", "--database": "any", "--table": "any", "--alter": "FORCE"}, nil)
	checkRefusal(t, &topology.Server{Addr: address}, args, "", engine.Refused, "connection refused")
}

func start(t testing.TB, spec topology.Spec) *topology.Server {
	t.Helper()
	cluster, err := topology.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	return cluster.Source()
}

func arguments(base, change map[string]string) []string {
	var args []string
	for flag, value := range base {
		if changed, ok := change[flag]; ok {
			value = changed
		}
		args = append(args, flag+"="+value)
	}
	for flag, value := range change {
		if _, ok := base[flag]; !ok {
			args = append(args, flag+"="+value)
		}
	}
	return append(args, "--execute")
}

func checkRefusal(t *testing.T, server *topology.Server, args []string, password string, want engine.Outcome, says string) {
	t.Helper()
	t.Setenv("MYSQL_PWD", password)
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	got := run(context.Background(), append(args, "--host="+host, "--port="+port), &stdout, &stderr)
	if got != want {
		t.Errorf("exit status: got %d, want %d", got, want)
	}
	text := strings.TrimSuffix(stderr.String(), "\n")
	if !strings.Contains(text, says) || strings.Contains(text, "\n") || !strings.HasPrefix(text, "osc: ") {
		t.Errorf("stderr: got %q, want one line that starts with \"osc: \" and says %q", text, says)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout: got %q, want nothing", stdout.String())
	}
}

// state is all that a migration could change: what was written, where it was
// logged, and which sessions and locks it left.
func state(t *testing.T, db *sql.DB) string {
	t.Helper()
	var text string
	err := db.QueryRowContext(t.Context(), `
		SELECT CONCAT_WS(' | ', @@global.gtid_executed,
			(SELECT GROUP_CONCAT(TABLE_NAME, ' ', IFNULL(CREATE_TIME, '') ORDER BY TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA LIKE 'rowproof%'),
			(SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA LIKE 'rowproof%'),
			IS_USED_LOCK('osc-migration:rowproof.good'))`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
