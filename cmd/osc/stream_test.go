package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"rowproof/engine"
	"rowproof/harness/observe"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

const streamed = "id INT PRIMARY KEY, v INT, j JSON, b LONGBLOB, note VARCHAR(50) DEFAULT 'none'"

// Whatever way a change is written to the binlog, it is applied. All of these
// are made when the copy and the verify pass are over: only the stream can
// bring them.
func TestStreamBringsEveryChange(t *testing.T) {
	server := start(t, topology.Spec{GTID: true, Options: []string{"--innodb-redo-log-capacity=512M", "--max-allowed-packet=128M"}})
	for _, c := range []struct {
		name  string
		flags []string
		do    []string // in one session; "|" starts another, and ends the one before
	}{
		{name: "row images that change", do: []string{
			"SET SESSION binlog_row_image = MINIMAL", "UPDATE t SET v = v + 1 WHERE id < 4", "INSERT INTO t (id, v) VALUES (100, 1)", "DELETE FROM t WHERE id = 4",
			"SET SESSION binlog_row_image = NOBLOB", "UPDATE t SET note = 'x' WHERE id = 5", "DELETE FROM t WHERE id = 6",
			"UPDATE t SET id = 107 WHERE id = 7",
			"SET SESSION binlog_row_image = MINIMAL", "UPDATE t SET id = 108 WHERE id = 8", "UPDATE t SET id = 7 WHERE id = 9",
			"SET SESSION binlog_row_image = FULL", "UPDATE t SET b = NULL, j = NULL, v = NULL WHERE id = 10"}},
		{name: "JSON in parts", do: []string{
			"SET SESSION binlog_row_value_options = PARTIAL_JSON",
			"UPDATE t SET j = JSON_SET(j, '$.a', 99), v = -1 WHERE id < 4", "UPDATE t SET j = JSON_REMOVE(j, '$.pad'), id = id + 200 WHERE id = 5",
			"SET SESSION binlog_row_image = MINIMAL", "UPDATE t SET j = JSON_SET(j, '$.a', 98) WHERE id BETWEEN 5 AND 9"}},
		{name: "compressed", do: []string{
			"SET SESSION binlog_transaction_compression = ON", "SET SESSION binlog_transaction_compression_level_zstd = 20",
			"BEGIN", "UPDATE t SET v = v + 1", "DELETE FROM t WHERE id = 3", "INSERT INTO neighbour VALUES (1, REPEAT('x', 5000000))", "INSERT INTO t (id) VALUES (300)", "COMMIT",
			"UPDATE t SET note = 'small' WHERE id = 300"}},
		{name: "XA", do: []string{
			"XA START 'a'", "UPDATE t SET v = 1000 WHERE id = 1", "DELETE FROM t WHERE id = 2", "INSERT INTO t (id, v) VALUES (400, 4)", "XA END 'a'", "XA PREPARE 'a'", "|",
			"XA START 'b'", "UPDATE t SET v = 2000 WHERE id = 3", "DELETE FROM t WHERE id = 4", "INSERT INTO t (id, v) VALUES (401, 4)", "XA END 'b'", "XA PREPARE 'b'", "|",
			"XA COMMIT 'a'", "XA ROLLBACK 'b'",
			"XA START 'c'", "UPDATE t SET v = 3000 WHERE id = 5", "XA END 'c'", "XA COMMIT 'c' ONE PHASE"}},
		{name: "savepoints", do: []string{
			"BEGIN", "SAVEPOINT t", "UPDATE t SET v = 1 WHERE id = 1", "SAVEPOINT two", "UPDATE t SET v = 2 WHERE id = 2", "INSERT INTO plain VALUES (1)",
			"ROLLBACK TO t", "UPDATE t SET v = 3 WHERE id = 3", "RELEASE SAVEPOINT t", "COMMIT"}},
		{name: "new files", do: []string{
			"UPDATE t SET v = 11 WHERE id = 1", "FLUSH BINARY LOGS", "UPDATE t SET v = 12 WHERE id = 2", "FLUSH BINARY LOGS", "SET GLOBAL binlog_checksum = NONE",
			"UPDATE t SET v = 13 WHERE id = 3", "SET GLOBAL binlog_checksum = CRC32", "UPDATE t SET v = 14 WHERE id = 4"}},
		{name: "tagged GTIDs", flags: []string{"--gtid"}, do: []string{
			"SET SESSION gtid_next = 'AUTOMATIC:osc'", "UPDATE t SET v = 21 WHERE id = 1", "UPDATE t SET v = 22 WHERE id = 2",
			"SET SESSION gtid_next = 'AUTOMATIC'", "UPDATE t SET v = 23 WHERE id = 3"}},
		{name: "more metadata", do: []string{
			"SET GLOBAL binlog_row_metadata = FULL", "SET SESSION binlog_rows_query_log_events = ON", "UPDATE t SET v = 31", "SET GLOBAL binlog_row_metadata = MINIMAL"}},
		{name: "big rows", do: []string{
			"UPDATE t SET b = REPEAT('b', 20000000), v = 5 WHERE id < 3", "INSERT INTO neighbour VALUES (2, REPEAT('n', 40000000))", "DELETE FROM t WHERE id = 1",
			"UPDATE t SET v = 6 WHERE id = 2"}},
		{name: "every way to write", do: []string{
			"REPLACE INTO t (id, v) VALUES (1, 41), (500, 42)", "INSERT INTO t (id, v) VALUES (2, 0), (501, 0) ON DUPLICATE KEY UPDATE v = 43",
			"UPDATE t SET id = id + 1000", "UPDATE t SET id = 2000 - id", "DELETE FROM t ORDER BY id LIMIT 3", "CALL change_all()"}},
		{name: "neighbours' definitions", do: []string{
			"CREATE TABLE other SELECT id, v FROM t", "CREATE VIEW seen AS SELECT * FROM t", "CREATE PROCEDURE p() UPDATE t SET v = 0",
			"UPDATE t SET v = 51 WHERE id = 1", "DROP TABLE other", "DROP VIEW seen", "DROP PROCEDURE p", "OPTIMIZE TABLE t",
			"SET SESSION binlog_format = STATEMENT", "INSERT INTO plain VALUES (7)", "SET SESSION binlog_format = ROW", "UPDATE t SET v = 52 WHERE id = 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			prepare(t, server)
			got, log := meanwhile(t, server, nil, func(ctx context.Context) { sessions(t, ctx, server.DB, c.do) }, c.flags...)
			if got != engine.Completed {
				t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
			}
			sameAsAlter(t, server.DB, "MODIFY v BIGINT")
		})
	}
}

// Where the connection is lost, be it inside a transaction, nothing is.
func TestStreamReconnects(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	execute(t, server.DB, "RESET BINARY LOGS AND GTIDS TO 999999") // names get a seventh digit soon
	for _, flags := range [][]string{nil, {"--gtid"}} {
		for _, kind := range []wire.EventKind{wire.EventGTID, wire.EventTableMap, wire.EventRows, wire.EventXID, wire.EventRotate, wire.EventPayload} {
			t.Run(fmt.Sprint(kind, flags), func(t *testing.T) {
				prepare(t, server)
				cut := func(p *wire.Proxy) {
					for _, n := range []int{1, 2, 4} { // with those that come again
						p.EventGate(wire.EventRule{Action: wire.Cut, Occurrence: n, Match: func(e wire.Event) bool { return e.Kind == kind && e.Start > 0 }})
					}
				}
				got, log := meanwhile(t, server, cut, func(ctx context.Context) {
					sessions(t, ctx, server.DB, []string{
						"BEGIN", "UPDATE t SET v = 1 WHERE id = 1", "UPDATE t SET v = 2 WHERE id = 2", "UPDATE t SET v = 3 WHERE id = 3", "COMMIT",
						"FLUSH BINARY LOGS", "UPDATE t SET v = 4 WHERE id = 4", "FLUSH BINARY LOGS", "DELETE FROM t WHERE id = 5",
						"SET SESSION binlog_transaction_compression = ON", "UPDATE t SET v = 6 WHERE id = 6", "UPDATE t SET v = 7 WHERE id = 7",
					})
				}, flags...)
				if got != engine.Completed {
					t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
				}
				if !strings.Contains(log, "binlog connection lost") {
					t.Errorf("the connection was not lost:\n%s", log)
				}
				sameAsAlter(t, server.DB, "MODIFY v BIGINT")
			})
		}
	}
}

// What the stream can't follow ends the migration, with the original as it
// is.
func TestStreamStops(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	const definition, statement = "a definition change of t by somebody else", "a change logged as a statement"
	cut := func(p *wire.Proxy) {
		p.EventGate(wire.EventRule{Action: wire.Cut, Occurrence: 1, Match: func(e wire.Event) bool { return e.Kind == wire.EventRows && e.Table == "neighbour" }})
	}
	for _, c := range []struct {
		name  string
		flags []string
		setUp func(*wire.Proxy)
		do    []string
		says  string
	}{
		{name: "STATEMENT", do: []string{"SET SESSION binlog_format = STATEMENT", "UPDATE t SET v = 0 WHERE id = 1"}, says: statement},
		{name: "MIXED", do: []string{"SET SESSION binlog_format = MIXED", "DELETE FROM t WHERE id = 1"}, says: statement},
		{name: "instant ALTER", do: []string{"ALTER TABLE t ADD COLUMN w INT, ALGORITHM=INSTANT"}, says: definition},
		{name: "ALTER that changes nothing", do: []string{"ALTER TABLE t FORCE"}, says: definition},
		{name: "CREATE INDEX", do: []string{"CREATE INDEX i ON t (v)"}, says: definition},
		{name: "DROP INDEX", do: []string{"DROP INDEX n ON t"}, says: definition},
		{name: "TRUNCATE", do: []string{"TRUNCATE TABLE t"}, says: definition},
		{name: "CREATE TRIGGER", do: []string{"CREATE TRIGGER watch BEFORE INSERT ON t FOR EACH ROW SET @x = 1"}, says: definition},
		{name: "in a procedure", do: []string{"CALL alter_t()"}, says: definition},
		{name: "the shadow", do: []string{"ALTER TABLE _t_new ADD COLUMN w INT"}, says: definition},
		{name: "purged files", setUp: cut, do: []string{"UPDATE t SET v = 1 WHERE id = 1", "FLUSH BINARY LOGS",
			"PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY", "INSERT INTO neighbour VALUES (9, 'x')"}, says: "(error 1236)"},
		{name: "purged GTIDs", flags: []string{"--gtid"}, setUp: cut, do: []string{"UPDATE t SET v = 1 WHERE id = 1", "FLUSH BINARY LOGS",
			"PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY", "INSERT INTO neighbour VALUES (9, 'x')"}, says: "(error 1236)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prepare(t, server)
			held := c.setUp
			var gate *wire.Gate
			if strings.HasPrefix(c.name, "purged") {
				// The stream is behind when the files go.
				held = func(p *wire.Proxy) {
					gate = p.EventGate(wire.EventRule{Action: wire.Hold, Occurrence: 1, Match: func(e wire.Event) bool { return e.Kind == wire.EventRows && e.Table == "t" }})
				}
			}
			var proxy *wire.Proxy
			got, log := meanwhile(t, server, func(p *wire.Proxy) {
				proxy = p
				if held != nil {
					held(p)
				}
			}, func(ctx context.Context) {
				sessions(t, ctx, server.DB, c.do)
				if gate != nil {
					if _, err := gate.Wait(ctx); err != nil {
						t.Error(err)
					}
					proxy.EventGate(wire.EventRule{Action: wire.Cut, Occurrence: 1})
					gate.Remove()
				}
			}, c.flags...)
			stopped(t, server, got, log, c.says)
		})
	}
	t.Run("RESET BINARY LOGS", func(t *testing.T) {
		prepare(t, server)
		execute(t, server.DB, "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
		got, log := meanwhile(t, server, nil, func(ctx context.Context) {
			sessions(t, ctx, server.DB, []string{"RESET BINARY LOGS AND GTIDS", "UPDATE t SET v = 1 WHERE id = 1"})
		}, "--default-retries=60")
		stopped(t, server, got, log, "read binlog")
	})
}

// A change that is kept out of the binlog can't be seen. The verify pass sees
// what came of it.
func TestVerifySeesWhatTheBinlogDoesNot(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	prepare(t, server)
	got, log := through(t, server, nil, wire.Rule{Step: step.Verify, Occurrence: 1}, func(ctx context.Context) {
		sessions(t, ctx, server.DB, []string{"SET SESSION sql_log_bin = 0", "UPDATE t SET v = 4711 WHERE id = 5"})
	})
	stopped(t, server, got, log, "verify: ")
	if !strings.Contains(log, "`id` = 5") {
		t.Errorf("log does not name the row:\n%s", log)
	}
}

// When the address leads to another server, nothing there is taken for what
// comes next.
func TestStreamKnowsItsServer(t *testing.T) {
	first, second := start(t, topology.Spec{GTID: true}), start(t, topology.Spec{GTID: true})
	prepare(t, first)
	prepare(t, second)
	elsewhere := &detour{to: first.Addr}
	address := elsewhere.listen(t)
	got, log := meanwhile(t, &topology.Server{Addr: address, DB: first.DB}, nil, func(context.Context) { elsewhere.turn(second.Addr) })
	if got != engine.Aborted || !strings.Contains(log, "another server answers at this address") {
		t.Errorf("got exit status %d, want %d and that another server answers\n%s", got, engine.Aborted, log)
	}
}

// detour passes connections on to a server that can be exchanged.
type detour struct {
	to    string
	conns []net.Conn
	turns chan string
}

func (d *detour) listen(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.turns = make(chan string)
	accepted := make(chan net.Conn)
	done := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	go func() {
		defer close(done)
		for {
			select {
			case conn, ok := <-accepted:
				if !ok {
					d.hangUp()
					return
				}
				up, err := net.Dial("tcp", d.to)
				if err != nil {
					conn.Close()
					continue
				}
				d.conns = append(d.conns, conn, up)
				go pass(conn, up)
				go pass(up, conn)
			case d.to = <-d.turns:
				d.hangUp()
			}
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return listener.Addr().String()
}

func (d *detour) turn(to string) { d.turns <- to }

func (d *detour) hangUp() {
	for _, c := range d.conns {
		c.Close()
	}
	d.conns = nil
}

func pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	_, _ = to.(*net.TCPConn).ReadFrom(from)
}

// prepare makes the table t with ten rows, and what stands beside it.
func prepare(t *testing.T, server *topology.Server) {
	t.Helper()
	const schema = topology.Database
	execute(t, server.DB, "DROP DATABASE IF EXISTS "+schema, "CREATE DATABASE "+schema,
		"CREATE TABLE "+schema+".t ("+streamed+", KEY n (note))",
		"CREATE TABLE "+schema+".neighbour (id INT PRIMARY KEY, b LONGBLOB)", "CREATE TABLE "+schema+".plain (id INT) ENGINE=InnoDB",
		"CREATE PROCEDURE "+schema+".change_all() BEGIN UPDATE t SET v = 77; INSERT INTO t (id, v) VALUES (-7, 7); END",
		"CREATE PROCEDURE "+schema+".alter_t() ALTER TABLE t ADD COLUMN w INT",
		"INSERT INTO "+schema+".t (id, v, j, b) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10)"+
			" SELECT i, -i, JSON_OBJECT('a', i, 'pad', REPEAT('p', 200)), REPEAT('b', 300) FROM n")
}

// meanwhile migrates t and does something when all that is left is the swap.
func meanwhile(t *testing.T, server *topology.Server, setUp func(*wire.Proxy), do func(context.Context), flags ...string) (engine.Outcome, string) {
	t.Helper()
	return through(t, server, setUp, wire.Rule{Step: step.Lock, Occurrence: 1}, do, flags...)
}

// through migrates t by way of a proxy, and does something while a gate holds
// osc.
func through(t *testing.T, server *topology.Server, setUp func(*wire.Proxy), rule wire.Rule, do func(context.Context), flags ...string) (engine.Outcome, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	proxy, err := wire.Listen(ctx, wire.Config{Upstream: server.Addr, Phrasebook: wire.CommentPhrasebook("osc")})
	if err != nil {
		t.Fatal(err)
	}
	gate := proxy.Gate(rule)
	osc := begin(t, &topology.Server{Addr: proxy.Addr()}, flags...)
	_, err = gate.Wait(ctx)
	if err == nil {
		if setUp != nil {
			setUp(proxy)
		}
		do(ctx)
		gate.Remove()
	}
	outcome := engine.Outcome(-1)
	select {
	case outcome = <-osc.outcome:
	case <-ctx.Done():
	}
	if closing := proxy.Close(); closing != nil {
		t.Error(closing)
	}
	if err != nil || outcome < 0 {
		t.Fatalf("osc did not get to its gate, or not to an end: %v\n%s", err, osc.stderr)
	}
	return outcome, osc.stderr.String()
}

// sessions runs statements in one session, and in a new one after "|".
func sessions(t *testing.T, ctx context.Context, db *sql.DB, statements []string) {
	t.Helper()
	var conn *sql.Conn
	end := func() {
		if conn != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // its settings must not leak
			conn.Close()
		}
		conn = nil
	}
	defer end()
	for _, s := range statements {
		if s == "|" {
			end()
			continue
		}
		if conn == nil {
			var err error
			if conn, err = db.Conn(ctx); err != nil {
				t.Error(err)
				return
			}
			if _, err := conn.ExecContext(ctx, "USE "+topology.Database); err != nil {
				t.Error(err)
			}
		}
		if _, err := conn.ExecContext(ctx, s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// sameAsAlter compares t with what MySQL's own ALTER makes of the old table.
func sameAsAlter(t *testing.T, db *sql.DB, alter string) {
	t.Helper()
	oracle, err := observe.Oracle(t.Context(), db, observe.TableRef{Schema: topology.Database, Name: "_t_old"}, alter)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := observe.DropOracle(t.Context(), db, oracle); err != nil {
			t.Error(err)
		}
	}()
	result, err := observe.Compare(t.Context(), observe.Side{DB: db, Table: oracle},
		observe.Side{DB: db, Table: observe.TableRef{Schema: topology.Database, Name: "t"}}, observe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diffs {
		t.Errorf("row %v: got %v, want %v", d.Key, d.Got, d.Want)
	}
}

// stopped checks that a migration was aborted for a reason, and left nothing.
func stopped(t *testing.T, server *topology.Server, got engine.Outcome, log, says string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; got != engine.Aborted || !strings.Contains(last, says) {
		t.Errorf("got exit status %d and %q, want %d and that it says %q", got, last, engine.Aborted, says)
	}
	if left := count(t, server, "_t_new", "_t_old", "_t_osc"); left != 0 {
		t.Errorf("left behind: %d rows", left)
	}
}
