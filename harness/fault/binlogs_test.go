package fault_test

import (
	"slices"
	"testing"

	"rowproof/harness/fault"
)

// files returns the source's binlog files.
func (r *rig) files(t *testing.T) []string {
	t.Helper()
	rows, err := r.Cluster.Source().DB.QueryContext(t.Context(), "SHOW BINARY LOGS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var files []string
	for rows.Next() {
		var name, size, encrypted string
		if err := rows.Scan(&name, &size, &encrypted); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	return files
}

func TestBinlogs(t *testing.T) {
	t.Run("OK/Flushed", func(t *testing.T) {
		r := newRig(t, plain, false)
		before := r.files(t)
		r.do(t, fault.FlushBinlogs())
		if got, want := len(r.files(t)), len(before)+1; got != want {
			t.Errorf("files: got %d, want %d", got, want)
		}
	})

	t.Run("OK/Purged", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		before := r.files(t)
		r.do(t, fault.FlushBinlogs(), fault.PurgeBinlogs())
		got := r.files(t)
		if len(got) != 1 || got[0] == before[len(before)-1] {
			t.Errorf("files: got %q, want one that is newer than %s", got, before[len(before)-1])
		}
	})

	t.Run("OK/Reset", func(t *testing.T) {
		r := newRig(t, plain, false)
		r.do(t, r.another("1000"))
		files, before := r.files(t), text(t, r.Cluster.Source().DB, "SELECT @@GLOBAL.gtid_executed")
		r.do(t, fault.ResetBinlogs())
		got := r.files(t)
		if len(got) != 1 || slices.Contains(files, got[0]) {
			t.Errorf("files: got %q, want one that is none of %q", got, files)
		}
		if got := text(t, r.Cluster.Source().DB, "SELECT GTID_SUBSET('"+before+"', @@GLOBAL.gtid_executed)"); before == "" || got != "1" {
			t.Errorf("GTIDs: %q are not all there again", before)
		}
	})

	t.Run("Err/ResetUnderReplicas", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		if err := r.try(fault.ResetBinlogs()); err == nil {
			t.Error("reset the binary logs: got no error")
		}
	})

	t.Run("OK/PurgedBeforeTheReplicaReadThem", func(t *testing.T) {
		r := newRig(t, semiSync, true)
		r.do(t, fault.FallBackToAsync(), r.another("1000"), fault.PurgeBinlogs())
		if got := r.files(t); len(got) != 1 {
			t.Errorf("files: got %q, want one", got)
		}
		// The replica can't go on.
		if err := r.try(fault.End("let semi-sync fall back to async")); err == nil {
			t.Error("start the IO thread again: got no error")
		}
	})
}
