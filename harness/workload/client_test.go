package workload_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

func TestWrites(t *testing.T) {
	table := fixtures.Pair()
	x := history.Text
	for _, c := range []struct {
		name  string
		write workload.Write
		want  string
		kind  history.ChangeKind
	}{
		{"insert", workload.Insert(table, history.Row{"id": x("7"), "name": x(`it's a \`), "val": nil}), "INSERT INTO `pair` (`id`, `name`, `val`) VALUES (7, 'it''s a \\\\', NULL)", history.Insert},
		{"update", workload.Update(table, "7", history.Row{"name": x("007")}), "UPDATE `pair` SET `name` = '007' WHERE `id` = 7", history.Update},
		{"add", workload.Add(table, "7", "val", -2), "UPDATE `pair` SET `val` = `val` + -2 WHERE `id` = 7", history.Update},
		{"delete", workload.Delete(table, "7"), "DELETE FROM `pair` WHERE `id` = 7", history.Delete},
		{"bytes and long numbers", workload.Update(table, "7", history.Row{"name": x("0x6100"), "val": x("100000000000000000000000000001")}),
			"UPDATE `pair` SET `name` = 0x6100, `val` = 100000000000000000000000000001 WHERE `id` = 7", history.Update},
		{"move", workload.Move(table, "7", "-8"), "UPDATE `pair` SET `id` = -8 WHERE `id` = 7", history.Move},
	} {
		t.Run("OK "+c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, c.write.SQL); d != "" {
				t.Errorf("statement (-want +got):\n%s", d)
			}
			if len(c.write.Changes) != 1 || c.write.Changes[0].Kind != c.kind || c.write.Changes[0].Key != "7" {
				t.Errorf("got %+v, want one %s of key 7", c.write.Changes, c.kind)
			}
		})
	}
}

func TestClient(t *testing.T) {
	table := fixtures.Pair()
	cluster, db := start(t, topology.Spec{GTID: true, Replicas: 1, SemiSync: true}, table)
	rec := history.NewRecorder()
	client := workload.NewClient("fault", db, rec)
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	row := func(id string) history.Row {
		return history.Row{"id": history.Text(id), "name": history.Text("n"), "val": history.Text("1")}
	}
	last := func() history.Op { ops := rec.Ops(); return ops[len(ops)-1] }

	t.Run("OK", func(t *testing.T) {
		if err := client.Do(t.Context(), workload.Insert(table, row("10"))); err != nil {
			t.Fatal(err)
		}
		if op := last(); op.Outcome != history.OK || op.Kind != "insert" || op.Return <= op.Invoke {
			t.Errorf("got %+v", op)
		}
	})
	t.Run("OK transaction", func(t *testing.T) {
		if err := client.Do(t.Context(), workload.Insert(table, row("11")), workload.Delete(table, "10")); err != nil {
			t.Fatal(err)
		}
		if op := last(); op.Outcome != history.OK || op.Kind != "transaction" || len(op.Changes) != 2 {
			t.Errorf("got %+v", op)
		}
	})
	t.Run("ErrDuplicate", func(t *testing.T) {
		err := client.Do(t.Context(), workload.Insert(table, row("12")), workload.Insert(table, row("1")))
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || refused.Number != 1062 {
			t.Fatalf("got %v, want error 1062", err)
		}
		if op := last(); op.Outcome != history.Failed || op.Code != 1062 {
			t.Errorf("got %+v, want Failed", op)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pair WHERE id = 12").Scan(&n); err != nil || n != 0 {
			t.Errorf("got %d rows, %v, want the transaction rolled back", n, err)
		}
	})
	t.Run("OK waits for its ACK", func(t *testing.T) {
		replica := cluster.Replicas()[0]
		if err := replica.StopIO(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, err := client.Start(t.Context(), workload.Insert(table, row("1000")))
		if err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			owned, err := cluster.Source().OwnedGTIDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return owned != ""
		})
		select {
		case <-p.Done():
			t.Fatal("the insert returned without an ACK")
		default:
		}
		if op := last(); op.ID != p.ID || op.Return != 0 {
			t.Errorf("got %+v, want operation %d without an end", op, p.ID)
		}
		if err := replica.StartIO(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if op := last(); op.Outcome != history.OK {
			t.Errorf("got %+v, want OK", op)
		}
	})
	t.Run("ErrLost", func(t *testing.T) {
		replica := cluster.Replicas()[0]
		if err := replica.StopIO(t.Context()); err != nil {
			t.Fatal(err)
		}
		thread, err := client.ThreadID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := client.Start(t.Context(), workload.Insert(table, row("1001")))
		if err != nil {
			t.Fatal(err)
		}
		until(t, func() bool {
			owned, err := cluster.Source().OwnedGTIDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return owned != ""
		})
		if _, err := cluster.Source().DB.ExecContext(t.Context(), "KILL "+strconv.FormatUint(thread, 10)); err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(t.Context()); err == nil {
			t.Error("got no error")
		}
		if op := last(); op.Outcome != history.Unknown {
			t.Errorf("got %+v, want Unknown", op)
		}
		if err := replica.StartIO(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := client.Do(t.Context(), workload.Delete(table, "1000")); err != nil {
			t.Errorf("got %v, want a new connection", err)
		}
	})
}
