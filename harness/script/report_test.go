package script_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rowproof/harness/check"
	"rowproof/harness/script"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

var update = flag.Bool("update", false, "write golden files")

const examples = "../../docs/examples"

// mutants are what the examples name as controls.
var mutants = []string{"copy-reads-then-writes", "range-read-trusts-attach"}

func TestParse(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		got := read(t, "testdata/every.rp").Scenario
		if got.ID != "every.rp" || got.Bug == "" || got.Expect != "aborted" || got.Guards != check.LostRow ||
			got.Control != mutants[0] || got.Limit != 90*time.Second || got.Zone != "Asia/Kathmandu" || got.Alter != "ADD COLUMN c INT,\nALGORITHM=COPY" {
			t.Errorf("scenario: got %+v", got)
		}
		spec := topology.Spec{
			Replicas: 2, SemiSync: true, GTID: true, PerformanceSchema: true, DataMegabytes: 512,
			Options: []string{"--binlog-order-commits=OFF"}, SourceOptions: []string{"--a=1"}, ReplicaOptions: []string{"--b=2", "--c=3"},
		}
		if diff := cmp.Diff(spec, got.Cluster); diff != "" {
			t.Errorf("cluster (-want +got):\n%s", diff)
		}
		load := got.Load
		if load.Writers != 3 || load.Readers != 2 || load.Rate != 100 || load.Mix != (workload.Mix{Insert: 1, Update: 2, Delete: 3, Move: 4, Transaction: 5, Add: 6}) {
			t.Errorf("load: got %+v", load)
		}
		if diff := cmp.Diff([]string{"1", "5"}, got.Table.Keys); diff != "" || got.Table.Name != "t" {
			t.Errorf("table %s, keys (-want +got):\n%s", got.Table.Name, diff)
		}
		want := []string{
			"first: write DELETE FROM t WHERE id = 1",
			"before attach: stop the replica's IO thread",
			"before attach: write INSERT INTO t VALUES (9, 'a'), which waits for its ACK",
			"after copy-read #2: write UPDATE t SET name = 'x;y' WHERE id = 5; INSERT INTO t VALUES (1, 'again')",
			"before copy-write: lock row 1, 5 of the original",
			"before copy-write: open a transaction: UPDATE t SET name = 'open' WHERE id = 9",
			"before copy-write: write DELETE FROM t WHERE id = 9 with binlog_row_image=MINIMAL, sql_log_bin=OFF",
			"before copy-write: wait until the subject waits in apply",
			"before copy-write: commit: t1",
			"before copy-write: end: rows",
			"before copy-write: read row 5",
			"before copy-write: run FLUSH BINARY LOGS",
			"once range-read is answered or waits: start the replica's IO thread",
			`before every /GET_LOCK\(/: swallow it`,
			"after copy-write #2: cut the connection",
			"after copy-write #2: latency of 20ms on replica-2's link",
			"after copy-write #2: cut",
			"before apply: delay it by 100ms",
			"before apply: end: delay it by 100ms",
			"at row event 2 of a transaction #3: wait for: cut",
			"at row event 2 of a transaction #3: end: no locks",
			"at rotation: hold the stream",
			"at rotation: limit of 1000 bytes on the subject's link",
			"before drain: kill the session that sends copy-write",
			"before drain: freeze the replica's workers",
			"before drain: kill the statement of the session of INSERT INTO t VALUES (9, 'a')",
			"before drain: restart the replicas --skip-replica-start",
			"before drain: kill the source",
			"before drain: end: crash",
		}
		if diff := cmp.Diff(want, got.Faults.Names()); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
	})

	paths, err := filepath.Glob(filepath.Join(examples, "*"+script.Extension))
	if err != nil || len(paths) < 3 {
		t.Fatalf("got %d examples, want 3 or more: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run("OK/"+filepath.Base(path), func(t *testing.T) { read(t, path) })
	}

	t.Run("ErrAbsent", func(t *testing.T) {
		if _, err := script.Read("testdata/absent.rp", mutants); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want that the file is not there", err)
		}
	})

	t.Run("ErrName", func(t *testing.T) {
		source, err := os.ReadFile("testdata/every.rp")
		if err != nil {
			t.Fatal(err)
		}
		_, err = script.Parse("my report.rp", source, mutants)
		wantProblems(t, err, "my report.rp:1:1: the name of the file")
	})
}

// All problems of a file are found at once, each with its place and what was
// expected.
func TestParseErr(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.rp")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no bad files: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, err := script.Read(path, mutants)
			got := "no problem"
			if err != nil {
				got = err.Error()
			}
			golden(t, strings.TrimSuffix(path, script.Extension)+".want", []byte(got+"\n"))
		})
	}
}

func read(t *testing.T, path string) *script.Report {
	t.Helper()
	report, err := script.Read(path, mutants)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %q", want)
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range want {
		if i >= len(lines) || !strings.HasPrefix(lines[i], line) {
			t.Errorf("got %q, want %q", lines, want)
		}
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it:\n%s", path, diff)
	}
}
