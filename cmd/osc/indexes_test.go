package main

import (
	"testing"

	"rowproof/engine"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// Secondary indexes are built after the copy where no replica would lag by
// it, unless somebody wants it otherwise.
func TestDeferIndexes(t *testing.T) {
	for _, c := range []struct {
		name     string
		replicas int
		flag     string
		want     int // statements that build indexes
	}{
		{"alone", 0, "auto", 1},
		{"alone, off", 0, "off", 0},
		{"with a replica", 1, "auto", 0},
		{"with a replica, on", 1, "on", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A server of its own: for a while it takes the stream of a run
			// before for a replica.
			server := start(t, topology.Spec{GTID: true, Replicas: c.replicas})
			fill(t, server, 10)
			proxy, err := wire.Listen(t.Context(), wire.Config{Upstream: server.Addr, Phrasebook: wire.CommentPhrasebook("osc")})
			if err != nil {
				t.Fatal(err)
			}
			defer proxy.Close()
			builds := proxy.Gate(wire.Rule{Step: step.Index, Action: wire.Observe})
			const alter = "MODIFY v BIGINT, ADD KEY (v)"
			osc := begin(t, &topology.Server{Addr: proxy.Addr()}, "--alter="+alter, "--defer-secondary-indexes="+c.flag)
			osc.ends(t, engine.Completed)
			if got := builds.Hits(); got != c.want {
				t.Errorf("statements that build indexes: got %d, want %d", got, c.want)
			}
			sameAsAlter(t, server.DB, alter)
		})
	}
}
