package fault_test

import (
	"strings"
	"testing"

	"rowproof/harness/fault"
	"rowproof/harness/topology"
)

func TestFullDisk(t *testing.T) {
	small := topology.Spec{DataMegabytes: 256}
	const grow = "INSERT INTO big (c) VALUES (REPEAT('a', 3000000))"

	t.Run("OK/TableCantGrow", func(t *testing.T) {
		r := newRig(t, small, true)
		r.exec(t, "CREATE TABLE big (id INT AUTO_INCREMENT PRIMARY KEY, c LONGBLOB)")
		r.do(t, fault.FullDisk(fault.Source))
		if got := number(<-r.send(t, grow)); got != 1114 {
			t.Errorf("error of a write: got %d, want 1114", got)
		}
		r.do(t, fault.End("fill the disk of the source"))
		r.exec(t, grow)
	})

	t.Run("OK/BinlogWaitsForSpace", func(t *testing.T) {
		r := newRig(t, small, true)
		r.do(t, fault.FullDisk(fault.Source))
		waits := func() bool {
			log, err := r.Cluster.Source().ErrorLog(t.Context(), 10)
			return err == nil && strings.Contains(log, "Disk is full writing './binlog")
		}
		// What the last page of the binlog has room for still passes.
		for passed, full := true, false; passed && !full; {
			ended := r.send(t, "UPDATE pair SET val = val + 1")
			passed = false
			r.eventually(t, "the write ends or waits", func() bool {
				select {
				case err := <-ended:
					if err != nil {
						t.Fatalf("write: %v", err)
					}
					passed = true
				default:
					full = waits()
				}
				return passed || full
			})
		}
		if got := text(t, r.App, "SELECT COUNT(*) FROM pair"); got != "3" {
			t.Errorf("rows read meanwhile: got %s, want 3", got)
		}
	})
}
