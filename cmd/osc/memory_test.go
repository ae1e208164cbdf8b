package main

import (
	"path/filepath"
	"testing"

	"rowproof/engine"
	"rowproof/fixtures"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
)

// The most memory that osc may take, whatever the size of a transaction.
const mostMegabytes = 128

// One transaction changes every row of a big table, when all of them are
// copied: osc's memory must not grow with it.
func BenchmarkTransaction(b *testing.B) {
	const rows = 1_000_000
	for _, compression := range []string{"OFF", "ON"} {
		b.Run("compression "+compression, func(b *testing.B) {
			for b.Loop() {
				peak := transaction(b, rows, compression)
				b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
				if peak > mostMegabytes<<20 {
					b.Errorf("osc took %d MB, want %d at most", peak>>20, mostMegabytes)
				}
			}
		})
	}
}

// The same with few rows.
func TestTransaction(t *testing.T) {
	for _, compression := range []string{"OFF", "ON"} {
		transaction(t, 20_000, compression)
	}
}

// transaction returns the peak memory of a run of osc, in bytes.
func transaction(t testing.TB, rows int64, compression string) int64 {
	t.Helper()
	bench := newBench(t, topology.Spec{GTID: true, DataMegabytes: 8 << 10, Options: []string{
		"--binlog-transaction-compression=" + compression, "--innodb-buffer-pool-size=1G", "--innodb-redo-log-capacity=1G",
	}})
	db := bench.server.DB
	execute(t, db, "CREATE DATABASE "+topology.Database)
	table := fixtures.Sbtest(rows)
	if err := table.Load(t.Context(), db, topology.Database); err != nil {
		t.Fatal(err)
	}
	bench.table, bench.alter = table.Name, "ENGINE=InnoDB"
	name := topology.Database + "." + table.Name
	sum := func() (sum int64) {
		t.Helper()
		if err := db.QueryRow("SELECT SUM(k) FROM " + name).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	before := sum()
	dir := t.TempDir()
	osc := running{socket: filepath.Join(dir, "sock")}
	process := bench.begin(t, t.Context(), bench.server.Addr, "--chunk-size=0", "--serve-socket-file="+osc.socket,
		"--postpone-cut-over-flag-file="+filepath.Join(dir, "postpone"))
	osc.until(t, "postponed: ")
	execute(t, db, "UPDATE "+name+" SET k = k + 1")
	if outcome, text := osc.ctl(t, "cut-over"); outcome != engine.Completed {
		t.Fatalf("cut-over: %s", text)
	}
	result, err := process.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.Exit.Outcome != subject.Completed {
		t.Fatalf("osc ended: %+v", result.Exit)
	}
	if got, want := sum(), before+rows; got != want {
		t.Errorf("sum of k: got %d, want %d", got, want)
	}
	return result.PeakRSS
}
