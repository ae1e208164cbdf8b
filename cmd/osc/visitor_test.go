package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rowproof/engine/mysql"
	"rowproof/fixtures"
	"rowproof/harness/history"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// visited are the rows that a visitor changes, and nobody else, each in
// transactions of one kind.
var visited = []history.Key{"6", "7", "8"}

// visits are the kinds: a long transaction, and an XA transaction that stays
// prepared and is committed, or rolled back. The last
// statement comes after visitHold.
var visits = []struct {
	begin   string
	end     []string
	commits bool
}{
	{"BEGIN", []string{"COMMIT"}, true},
	{"XA START 'v'", []string{"XA END 'v'", "XA PREPARE 'v'", "XA COMMIT 'v'"}, true},
	{"XA START 'v'", []string{"XA END 'v'", "XA PREPARE 'v'", "XA ROLLBACK 'v'"}, false},
}

// visitor is an application that now and then holds a row for long.
type visitor struct {
	server       *topology.Server
	table        fixtures.Table
	want         string // what becomes of the visited rows
	transactions int64

	cancel context.CancelFunc
	ended  chan error
}

const (
	visitHold  = 300 * time.Millisecond // how long it holds a row at the end of a transaction
	visitPause = 200 * time.Millisecond // between two transactions
)

// visit starts a visitor.
func visit(t *testing.T, ctx context.Context, server *topology.Server, table fixtures.Table) *visitor {
	t.Helper()
	v := &visitor{server: server, table: table, ended: make(chan error, 1)}
	before := v.read(t)
	ctx, v.cancel = context.WithCancel(ctx)
	go func() {
		committed, err := v.run(ctx)
		v.want = fmt.Sprintf("%d %d %d", before[0]+committed[0], before[1]+committed[1], before[2])
		v.ended <- err
	}()
	return v
}

// stop lets the transaction under way end.
func (v *visitor) stop(t *testing.T) {
	t.Helper()
	v.cancel()
	if err := <-v.ended; err != nil {
		t.Errorf("visit: %v", err)
	}
}

// check looks for what was committed, and that alone.
func (v *visitor) check(t *testing.T) {
	t.Helper()
	rows := v.read(t)
	if got := fmt.Sprintf("%d %d %d", rows[0], rows[1], rows[2]); got != v.want {
		t.Errorf("the visited rows: got %s, want %s", got, v.want)
	}
}

func (v *visitor) counter() string { return workload.Quote(v.table.Columns[1].Name) }

func (v *visitor) key(n int) string {
	return workload.Quote(v.table.Key[0]) + " = '" + string(visited[n]) + "'"
}

func (v *visitor) read(t *testing.T) (rows [3]int64) {
	t.Helper()
	for i := range visited {
		err := v.server.DB.QueryRow("SELECT " + v.counter() + " FROM " + topology.Database + "." + workload.Quote(v.table.Name) +
			" WHERE " + v.key(i)).Scan(&rows[i])
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// run visits until ctx ends, when the transaction under way is finished. It
// counts what it has committed, by row.
func (v *visitor) run(ctx context.Context) (committed [3]int64, err error) {
	never := context.WithoutCancel(ctx)
	conn, err := v.server.DB.Conn(never)
	if err != nil {
		return committed, err
	}
	defer conn.Close()
	for n := 0; ; n = (n + 1) % len(visits) {
		if !mysql.Wait(ctx, visitPause) {
			return committed, nil
		}
		statements := append([]string{visits[n].begin, "UPDATE " + topology.Database + "." + workload.Quote(v.table.Name) +
			" SET " + v.counter() + " = " + v.counter() + " + 1 WHERE " + v.key(n)}, visits[n].end...)
		for i, s := range statements {
			if i == len(statements)-1 {
				mysql.Wait(ctx, visitHold)
			}
			if _, err := conn.ExecContext(never, s); err != nil {
				return committed, fmt.Errorf("%s: %w", s, err)
			}
		}
		v.transactions++
		if visits[n].commits {
			committed[n]++
		}
	}
}
