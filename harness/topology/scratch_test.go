package topology_test

import (
	"testing"
	"time"

	"rowproof/harness/topology"
)

func TestScratch(t *testing.T) {
	c := start(t, topology.Spec{Replicas: 1, SemiSync: true, GTID: true, PerformanceSchema: true})
	for _, s := range c.Servers() {
		t0 := time.Now()
		must(t, s.Terminate(t.Context()))
		t.Log("term", s.Name, time.Since(t0))
		t0 = time.Now()
		must(t, s.StartAgain(t.Context()))
		t.Log("start", s.Name, time.Since(t0))
		l, _ := s.ErrorLog(t.Context(), 60)
		t.Log(l)
	}
}
