package check_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"rowproof/harness/check"
	"rowproof/harness/history"
)

// The ledger of a long run: eight writers on keys of their own, transactions
// over several of them, moves that connect them all, shared counters, and a
// lost reply now and then.
func TestAcknowledgedWritesScale(t *testing.T) {
	const ops, writers = 100_000, 8
	t.Run("OK", func(t *testing.T) {
		r := longRun(ops, writers)
		began := time.Now()
		result := check.AcknowledgedWrites(r)
		t.Logf("%d operations judged in %v", ops, time.Since(began))
		if result.Verdict != check.Valid {
			t.Fatalf("got %s %.3v %q, want Valid", result.Verdict, result.Anomalies, result.Unknown)
		}
	})
	t.Run("Err one value lost", func(t *testing.T) {
		r := longRun(ops, writers)
		for k, row := range r.Observed.Final {
			if k != "counter" {
				row["v"] = history.Text("stale")
				break
			}
		}
		if got := check.AcknowledgedWrites(r); got.Verdict != check.Invalid || len(got.Anomalies) != 1 {
			t.Fatalf("got %s with %d anomalies %q, want Invalid with 1", got.Verdict, len(got.Anomalies), got.Unknown)
		}
	})
}

func longRun(ops, writers int) *history.Record {
	rng := rand.New(rand.NewPCG(7, 7))
	r := &history.Record{Table: history.Table{Key: []string{"id"}, Initial: []history.Row{{"id": history.Text("counter"), "n": history.Text("0")}}}}
	final := map[history.Key]history.Row{}
	sum := int64(0)
	live := make([][]history.Key, writers)
	next := 0
	for i := range ops {
		w := i % writers
		var changes []history.Change
		lost := rng.IntN(ops/12) == 0
		happens := !lost || rng.IntN(2) == 0
		fresh := func() history.Key { next++; return history.Key(fmt.Sprintf("%d-%d", w, next)) }
		pick := func() (history.Key, bool) {
			if len(live[w]) == 0 {
				return "", false
			}
			return live[w][rng.IntN(len(live[w]))], true
		}
		k, ok := pick()
		v := history.Text(strconv.Itoa(i))
		switch n := rng.IntN(10); {
		case !ok || n < 2:
			k = fresh()
			changes = append(changes, history.Change{Kind: history.Insert, Key: k, Set: history.Row{"v": v}})
		case n < 6:
			changes = append(changes, history.Change{Kind: history.Update, Key: k, Set: history.Row{"v": v}})
		case n < 7:
			changes = append(changes, history.Change{Kind: history.Move, Key: k, NewKey: fresh()})
		case n < 8:
			changes = append(changes, history.Change{Kind: history.Delete, Key: k})
		default:
			other, _ := pick()
			changes = append(changes,
				history.Change{Kind: history.Update, Key: k, Set: history.Row{"v": v}},
				history.Change{Kind: history.Update, Key: other, Set: history.Row{"v": history.Text("t" + *v)}},
				history.Change{Kind: history.Update, Key: "counter", Add: map[string]int64{"n": 2}})
		}
		op := history.Op{ID: i + 1, Client: fmt.Sprint("writer-", w), Kind: "transaction", Changes: changes,
			Invoke: time.Duration(i) * time.Microsecond, Return: time.Duration(i+writers-1) * time.Microsecond, Outcome: history.OK}
		if lost {
			op.Outcome = history.Unknown
		}
		r.Ops = append(r.Ops, op)
		if !happens {
			continue
		}
		for _, c := range changes {
			switch c.Kind {
			case history.Insert:
				final[c.Key] = history.Row{"v": c.Set["v"]}
				live[w] = append(live[w], c.Key)
			case history.Update:
				if c.Key == "counter" {
					sum += 2
				} else if row := final[c.Key]; row != nil {
					row["v"] = c.Set["v"]
				}
			case history.Delete, history.Move:
				row := final[c.Key]
				delete(final, c.Key)
				for i, k := range live[w] {
					if k == c.Key {
						live[w] = append(live[w][:i], live[w][i+1:]...)
						break
					}
				}
				if c.Kind == history.Move && row != nil {
					final[c.NewKey] = row
					live[w] = append(live[w], c.NewKey)
				}
			}
		}
	}
	final["counter"] = history.Row{"n": history.Text(strconv.FormatInt(sum, 10))}
	r.Observed.Final = final
	return r
}
