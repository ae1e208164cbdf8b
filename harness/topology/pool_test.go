package topology_test

import (
	"database/sql"
	"sort"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/topology"
)

func TestPool(t *testing.T) {
	spec := topology.Spec{Replicas: 1, SemiSync: true, GTID: true}
	var reason error
	pool := &topology.Pool{Discarded: func(err error) { reason = err }}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
	})
	get := func(t *testing.T) *topology.Cluster {
		t.Helper()
		c, err := pool.Get(t.Context(), spec)
		must(t, err)
		return c
	}

	t.Run("OKReused", func(t *testing.T) {
		c := get(t)
		execute(t, c.Source().DB, "CREATE DATABASE rowproof", table, "INSERT rowproof.t VALUES (1)")
		// A session that somebody forgot, in a transaction that would block the reset.
		connector, err := mysql.NewConnector(c.Source().Config(topology.App(), ""))
		must(t, err)
		forgotten := sql.OpenDB(connector)
		defer forgotten.Close()
		conn, err := forgotten.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		for _, statement := range []string{"BEGIN", "INSERT rowproof.t VALUES (2)"} {
			_, err := conn.ExecContext(t.Context(), statement)
			must(t, err)
		}
		must(t, c.Replicas()[0].StopSQL(t.Context()))
		must(t, c.Replicas()[0].StopIO(t.Context()))

		must(t, pool.Put(t.Context(), c, true))
		again := get(t)
		if again != c {
			t.Fatalf("got another cluster, want the clean one again: %v", reason)
		}
		for _, s := range again.Servers() {
			if got := query[int](t, s.DB, "SELECT COUNT(*) FROM information_schema.schemata"); got != 4 {
				t.Errorf("%s has %d databases, want MySQL's own 4", s.Name, got)
			}
		}
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("the forgotten session lives")
		}
		execute(t, c.Source().DB, "CREATE DATABASE rowproof")
		must(t, c.WaitReplicated(within(t, patience)))
		must(t, pool.Put(t.Context(), c, true))
	})
	for name, spoil := range map[string]func(t *testing.T, c *topology.Cluster){
		"OKVariable": func(t *testing.T, c *topology.Cluster) {
			execute(t, c.Replicas()[0].DB, "SET GLOBAL binlog_cache_size = 65536")
		},
		"OKAccount": func(t *testing.T, c *topology.Cluster) { execute(t, c.Source().DB, "CREATE USER guest") },
		"OKReplicaDatabase": func(t *testing.T, c *topology.Cluster) {
			execute(t, c.Replicas()[0].DB, "CREATE DATABASE alone")
		},
		"OKDead": func(t *testing.T, c *topology.Cluster) { must(t, c.Source().Kill(t.Context())) },
		"OKPreparedXA": func(t *testing.T, c *topology.Cluster) {
			conn, err := c.Source().DB.Conn(t.Context())
			must(t, err)
			defer conn.Close()
			for _, statement := range []string{"CREATE DATABASE rowproof", table, "XA START 'x'",
				"INSERT rowproof.t VALUES (1)", "XA END 'x'", "XA PREPARE 'x'"} {
				_, err := conn.ExecContext(t.Context(), statement)
				must(t, err)
			}
		},
	} {
		t.Run(name+"ThrownAway", func(t *testing.T) {
			c := get(t)
			spoil(t, c)
			must(t, pool.Put(t.Context(), c, true))
			again := get(t)
			if again == c {
				t.Error("got the spoilt cluster again")
			}
			t.Log(reason)
			must(t, pool.Put(t.Context(), again, true))
		})
	}
	t.Run("OKUncleanThrownAway", func(t *testing.T) {
		c := get(t)
		must(t, pool.Put(t.Context(), c, false))
		again := get(t)
		if again == c {
			t.Error("got the cluster again that was called unclean")
		}
		must(t, pool.Put(t.Context(), again, true))
	})
	t.Run("OKOtherSpec", func(t *testing.T) {
		other, err := pool.Get(t.Context(), topology.Spec{})
		must(t, err)
		if got := len(other.Replicas()); got != 0 {
			t.Errorf("got %d replicas, want 0", got)
		}
		must(t, pool.Put(t.Context(), other, true))
	})
	t.Run("OKQuick", func(t *testing.T) {
		var took []time.Duration
		for range 5 {
			c := get(t)
			execute(t, c.Source().DB, "CREATE DATABASE rowproof", table)
			began := time.Now()
			must(t, pool.Put(t.Context(), c, true))
			took = append(took, time.Since(began))
		}
		sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
		t.Logf("a reset takes %s (median of %d)", took[len(took)/2].Round(time.Millisecond), len(took))
	})
}

func TestPoolIdle(t *testing.T) {
	pool := &topology.Pool{Idle: 1}
	first, err := pool.Get(t.Context(), topology.Spec{})
	must(t, err)
	second, err := pool.Get(t.Context(), topology.Spec{})
	must(t, err)
	must(t, pool.Put(t.Context(), first, true))
	must(t, pool.Put(t.Context(), second, true))
	if first.Source().Running() || !second.Source().Running() {
		t.Errorf("running: got the first %t, the second %t, want the latest one alone", first.Source().Running(), second.Source().Running())
	}
	must(t, pool.Close())
	if second.Source().Running() {
		t.Error("the second runs after Close")
	}
}

// BenchmarkStart measures the time until a semi-sync pair is ready.
func BenchmarkStart(b *testing.B) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		c, err := topology.Start(b.Context(), topology.Spec{Replicas: 1, SemiSync: true, GTID: true})
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		b.StopTimer()
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	b.ReportMetric(took[len(took)/2].Seconds(), "s/median")
}
