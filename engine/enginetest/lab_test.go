package enginetest

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

var seed = flag.Uint64("seed", 1, "seed of all random values")

func TestMain(m *testing.M) {
	// The SQL parser's logging library starts it at init, for good.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

// random is the generator for one case: the same for the same seed, whatever
// else runs.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	var name uint64
	for _, b := range []byte(t.Name()) {
		name = name*31 + uint64(b)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./engine/enginetest -run '^%s$' -seed %d", t.Name(), *seed)
		}
	})
	return rand.New(rand.NewPCG(*seed, name))
}

// lab is a server on which several migrations run side by side.
type lab struct {
	server  *topology.Server
	workers chan *worker // the idle ones
}

// worker migrates one table after the other in a schema of its own, through a
// proxy of its own.
type worker struct {
	server *topology.Server
	schema string  // of the table that is migrated
	oracle string  // of MySQL's own
	loud   *sql.DB // as the application: in the binlog
	quiet  *sql.DB // not in the binlog
	proxy  *wire.Proxy
}

// workers is how many migrations run at once: enough that a waiting one
// doesn't leave a core idle.
const workers = 4

func newLab(t *testing.T, options ...string) *lab {
	t.Helper()
	cluster, err := topology.Start(t.Context(), topology.Spec{GTID: true, Options: append([]string{
		// Hours that local time skips or repeats can't be told from a plain
		// offset; zone_test.go has them.
		"--default-time-zone=+05:30", "--innodb-buffer-pool-size=64M",
	}, options...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &lab{server: cluster.Source(), workers: make(chan *worker, workers)}
	for n := range workers {
		l.workers <- newWorker(t, l.server, n)
	}
	return l
}

func newWorker(t *testing.T, server *topology.Server, n int) *worker {
	t.Helper()
	w := &worker{server: server, schema: fmt.Sprintf("rowproof_%d", n), oracle: fmt.Sprintf("rowproof_oracle_%d", n)}
	for _, schema := range []string{w.schema, w.oracle} {
		if _, err := server.DB.ExecContext(t.Context(), "CREATE DATABASE "+schema); err != nil {
			t.Fatal(err)
		}
	}
	w.loud = w.open(t, nil)
	w.quiet = w.open(t, map[string]string{"sql_log_bin": "0"})
	var err error
	// It outlives the test's context, which ends before the clean-up.
	w.proxy, err = wire.Listen(context.WithoutCancel(t.Context()), wire.Config{Upstream: server.Addr, Phrasebook: wire.CommentPhrasebook("osc")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// open opens a pool whose sessions take any value as it is.
func (w *worker) open(t *testing.T, session map[string]string) *sql.DB {
	t.Helper()
	cfg := topology.Root().Config(w.server.Addr, w.schema)
	cfg.Params = map[string]string{"sql_mode": "'NO_AUTO_VALUE_ON_ZERO'", "time_zone": "'+00:00'"}
	for name, value := range session {
		cfg.Params[name] = value
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// use hands a worker to a test that runs beside others.
func (l *lab) use(t *testing.T, test func(w *worker)) {
	t.Helper()
	w := <-l.workers
	defer func() { l.workers <- w }()
	test(w)
}

func (w *worker) address(t *testing.T) (host string, port uint16) {
	t.Helper()
	host, text, err := net.SplitHostPort(w.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return host, uint16(n)
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.2000s: %v", s, err)
		}
	}
}
