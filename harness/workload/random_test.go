package workload_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rowproof/fixtures"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// A seed always draws the same, and another one something else.
func TestNewRandom(t *testing.T) {
	for name, room := range map[string]workload.Room{"Below": {From: -1_000_000}, "Above": {From: 1_000_000}, "Updates": {Rows: 9}} {
		t.Run("OK/"+name, func(t *testing.T) {
			draw := func(seed uint64) workload.Random { return workload.NewRandom(seed, fixtures.Accounts(10), room) }
			differ := 0
			for seed := range uint64(50) {
				first, again := draw(seed), draw(seed)
				if diff := cmp.Diff(first, again, cmpopts.IgnoreUnexported(fixtures.Table{})); diff != "" {
					t.Fatalf("seed %d (-first +again):\n%s", seed, diff)
				}
				if diff := cmp.Diff(first.Table.Statements(), again.Table.Statements()); diff != "" {
					t.Fatalf("seed %d, statements (-first +again):\n%s", seed, diff)
				}
				if err := first.Load.Validate(); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if first.Alter != draw(seed+1).Alter {
					differ++
				}
			}
			if differ < 45 {
				t.Errorf("only %d of 50 seeds gave another ALTER than the next", differ)
			}
		})
	}
	for name, room := range map[string]workload.Room{"None": {}, "Two": {From: 1, Rows: 9}, "TooFew": {Rows: 5}, "TooMany": {Rows: 11}} {
		t.Run("Err/"+name, func(t *testing.T) {
			if err := room.Validate(fixtures.Accounts(10)); err == nil {
				t.Error("got no error")
			}
		})
	}
}

func TestRandomAlterNoIndex(t *testing.T) {
	indexed := map[bool]int{}
	for seed := range uint64(60) {
		for _, none := range []bool{false, true} {
			drawn := workload.NewRandom(seed, fixtures.Accounts(10), workload.Room{From: 1_000_000, NoIndex: none})
			if strings.Contains(drawn.Alter, "ADD KEY") {
				indexed[none]++
			}
		}
	}
	if indexed[true] != 0 || indexed[false] == 0 {
		t.Errorf("ALTERs with an index: %d of those without, %d of the others, want none and some", indexed[true], indexed[false])
	}
}

// The server takes every table and ALTER that is drawn.
func TestRandomAlter(t *testing.T) {
	cluster, _ := start(t, topology.Spec{}, fixtures.Pair())
	db := cluster.Source().DB
	for seed := range uint64(60) {
		drawn := workload.NewRandom(seed, fixtures.Accounts(10), workload.Room{From: 1_000_000})
		if err := drawn.Table.Load(t.Context(), db, topology.Database); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, statement := range []string{"ALTER TABLE " + topology.Database + ".accounts " + drawn.Alter, "DROP TABLE " + topology.Database + ".accounts"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, statement, err)
			}
		}
	}
}
