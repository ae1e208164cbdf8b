package main

import (
	"context"
	"testing"

	"rowproof/engine"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
)

// Whenever the server restarts, osc goes on when it is back, and leaves
// nothing but the old table.
func TestServerRestarts(t *testing.T) {
	server := start(t, topology.Spec{GTID: true})
	for _, c := range []struct {
		name string
		rule wire.Rule
	}{
		{"before the range read", wire.Rule{Step: step.RangeRead}},
		{"before a copy", wire.Rule{Step: step.CopyWrite}},
		{"after a copy", wire.Rule{Step: step.CopyWrite, Phase: wire.After}},
		{"before tables are compared", wire.Rule{Step: step.Verify}},
		{"before the lock", wire.Rule{Step: step.Lock}},
		{"under the lock", wire.Rule{Step: step.Lock, Phase: wire.After}},
		{"before the drain", wire.Rule{Step: step.Drain}},
		{"before the swap", wire.Rule{Step: step.Rename}},
		{"after the swap", wire.Rule{Step: step.Rename, Phase: wire.After}},
		{"before the clean-up", wire.Rule{Step: step.Cleanup}},
		{"after the clean-up", wire.Rule{Step: step.Cleanup, Phase: wire.After}},
	} {
		t.Run(c.name, func(t *testing.T) {
			prepare(t, server)
			c.rule.Occurrence = 1
			got, log := through(t, server, nil, c.rule, func(ctx context.Context) {
				if err := server.Restart(ctx); err != nil {
					t.Error(err)
				}
			})
			migrated(t, server, got, log)
		})
	}

	t.Run("before a change is applied", func(t *testing.T) {
		prepare(t, server)
		var apply *wire.Gate
		setUp := func(p *wire.Proxy) { apply = p.Gate(wire.Rule{Step: step.Apply, Occurrence: 1}) }
		got, log := through(t, server, setUp, wire.Rule{Step: step.CopyWrite, Phase: wire.After, Occurrence: 1}, func(ctx context.Context) {
			sessions(t, ctx, server.DB, []string{"UPDATE t SET v = 1 WHERE id = 1", "DELETE FROM t WHERE id = 2"})
			defer apply.Remove()
			if _, err := apply.Wait(ctx); err != nil {
				t.Error(err)
			}
			if err := server.Restart(ctx); err != nil {
				t.Error(err)
			}
		})
		migrated(t, server, got, log)
	})

	t.Run("without its binlog", func(t *testing.T) {
		prepare(t, server)
		got, log := through(t, server, nil, wire.Rule{Step: step.Lock, Occurrence: 1}, func(ctx context.Context) {
			if err := server.Restart(ctx, "--skip-log-bin"); err != nil {
				t.Error(err)
			}
		})
		stopped(t, server, got, log, "read binlog: ")
	})
}

// migrated checks that t is migrated, and that nothing is left but the old
// table.
func migrated(t *testing.T, server *topology.Server, got engine.Outcome, log string) {
	t.Helper()
	if got != engine.Completed {
		t.Fatalf("exit status: got %d, want %d\n%s", got, engine.Completed, log)
	}
	sameAsAlter(t, server.DB, "MODIFY v BIGINT")
	if left := count(t, server, "_t_new", "_t_osc"); left != 0 {
		t.Errorf("left behind: %d rows", left)
	}
}
