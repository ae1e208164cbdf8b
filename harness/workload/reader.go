package workload

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/fixtures"
	"rowproof/harness/history"
)

// reader reads the same few rows again and again: one that nobody writes, which
// must always be there, and the counters, which never go back. It records an
// unbroken series of good reads as one operation, and each failure as one.
type reader struct {
	name  string
	db    *sql.DB
	rec   *history.Recorder
	table fixtures.Table
	plan  plan

	conn *sql.Conn
	seen map[string]int64 // counter -> the highest value read
}

// readEvery paces a reader: often enough to fall into any gap that a person
// could notice, seldom enough to leave the server to the migration.
const readEvery = 500 * time.Microsecond

func (r *reader) run(ctx context.Context, running *Running) (err error) {
	r.seen = map[string]int64{}
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	statement := r.statement()
	series := 0 // the operation that records the present series, 0 for none
	last := ""  // the failure before
	defer func() {
		if series != 0 {
			r.rec.End(series, history.OK, 0, "")
		}
		r.drop()
	}()
	for {
		select {
		case <-tick.C:
		case <-running.stop:
			return nil
		case <-ctx.Done():
			return nil
		}
		if r.conn == nil {
			if r.conn, err = r.db.Conn(ctx); err != nil { // the server is away: ask again
				r.conn = nil
				tick.Reset(reconnectEvery)
				continue
			}
			tick.Reset(readEvery)
		}
		if series == 0 {
			series = r.rec.Begin(history.Op{Client: r.name, Kind: "read", SQL: []string{statement}})
		}
		running.count.reads.Add(1)
		outcome, code, text := r.read(ctx, statement)
		if outcome == history.OK {
			last = ""
			continue
		}
		if outcome == history.Failed {
			running.count.lost.Add(1)
		}
		if text == last {
			continue // the same again: recorded already
		}
		last = text
		r.rec.End(series, outcome, code, text)
		series = 0
	}
}

// statement reads the witness and the counters, or just any row.
func (r *reader) statement() string {
	if r.plan.witness == "" {
		return "SELECT 1, 0 FROM " + Quote(r.table.Name) + " LIMIT 1"
	}
	column := "0"
	if r.plan.counter != "" {
		column = Quote(r.plan.counter)
	}
	keys := []string{keyLiteral(r.table, history.Text(string(r.plan.witness)))}
	for _, k := range r.plan.counters {
		keys = append(keys, keyLiteral(r.table, history.Text(string(k))))
	}
	id := Quote(r.table.Key[0])
	return "SELECT " + id + ", " + column + " FROM " + Quote(r.table.Name) + " WHERE " + id + " IN (" + strings.Join(keys, ", ") + ") ORDER BY " + id
}

func (r *reader) read(ctx context.Context, statement string) (history.Outcome, uint16, string) {
	got, err := r.rows(ctx, statement)
	var refused *mysql.MySQLError
	switch {
	case errors.As(err, &refused):
		return history.Failed, refused.Number, refused.Message
	case err != nil:
		r.drop()
		return history.Unknown, 0, err.Error()
	case r.plan.witness == "":
		return history.OK, 0, ""
	}
	for _, k := range append([]history.Key{r.plan.witness}, r.plan.counters...) {
		if _, ok := got[string(k)]; !ok {
			return history.Failed, 0, fmt.Sprintf("row %s, which nobody deletes, was not there", k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if k == string(r.plan.witness) {
			continue
		}
		if got[k] < r.seen[k] {
			was := r.seen[k]
			r.seen[k] = got[k]
			return history.Failed, 0, fmt.Sprintf("counter %s went back from %d to %d", k, was, got[k])
		}
		r.seen[k] = got[k]
	}
	return history.OK, 0, ""
}

func (r *reader) rows(ctx context.Context, statement string) (map[string]int64, error) {
	rows, err := r.conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	got := map[string]int64{}
	for rows.Next() {
		var id, n string
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		if got[id], err = strconv.ParseInt(n, 10, 64); err != nil {
			return nil, err
		}
	}
	return got, rows.Err()
}

func (r *reader) drop() {
	if r.conn == nil {
		return
	}
	// Whatever state it is in, it must not return to the pool. Close reports
	// that it was discarded, which is what was asked for.
	_ = r.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = r.conn.Close()
	r.conn = nil
}
