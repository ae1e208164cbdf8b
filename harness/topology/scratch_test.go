package topology_test

import (
	"testing"
	"time"

	"rowproof/harness/topology"
)

func TestScratch(t *testing.T) {
	t0 := time.Now()
	c, err := topology.Start(t.Context(), topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
	t.Log(time.Since(t0), err)
	if err != nil {
		t.Fatal(err)
	}
	t0 = time.Now()
	t.Log(c.Close(), time.Since(t0))
	for range 10 {
		t0 := time.Now()
		c, err := topology.Start(t.Context(), topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
		t.Log(time.Since(t0), err)
		if err != nil {
			t.Fatal(err)
		}
		t0 = time.Now()
		t.Log(c.Close(), time.Since(t0))
	}
}
