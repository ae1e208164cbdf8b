package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/go-sql-driver/mysql"

	"rowproof/harness/bench/figures"
	"rowproof/harness/topology"
)

const (
	maxRate     = 100_000
	writers     = 32
	warmUp      = time.Second
	slowest     = 10 * time.Minute // the largest latency that is told apart
	significant = 3                // digits of a latency
	mostDue     = 1 << 20          // writes that may wait
)

// application writes single rows at a steady rate, whether the server keeps
// up or not: a write is due at its time, and its latency counts from then.
type application struct {
	site *site
	db   *sql.DB
	rate int

	due  chan time.Time
	quit chan struct{} // closed: no more writes become due
	wg   sync.WaitGroup

	mu         sync.Mutex
	from, till time.Time // what is due between them is recorded
	latency    *hdrhistogram.Histogram
	made       int64 // writes that were due and are done
	inTime     int64 // of them, before till
	failed     int64
	failure    string
}

// startApplication starts to write.
func startApplication(ctx context.Context, s *site, rate int) (*application, error) {
	config := s.server.Config(topology.App(), topology.Database)
	config.InterpolateParams = true // one round trip a write
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	a := &application{
		site: s, db: sql.OpenDB(connector), rate: rate,
		due: make(chan time.Time, mostDue), quit: make(chan struct{}),
		latency: hdrhistogram.New(1, slowest.Microseconds(), significant),
	}
	a.db.SetMaxOpenConns(writers)
	a.db.SetMaxIdleConns(writers)
	for n := range writers {
		a.wg.Go(func() { a.write(ctx, uint64(n)) })
	}
	a.wg.Go(a.tick)
	return a, nil
}

// tick makes writes due until quit.
func (a *application) tick() {
	defer close(a.due)
	interval := time.Second / time.Duration(a.rate)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for next := time.Now(); ; {
		select {
		case <-a.quit:
			return
		case <-timer.C:
		}
		for ; !next.After(time.Now()); next = next.Add(interval) {
			select {
			case a.due <- next:
			case <-a.quit:
				return
			}
		}
		timer.Reset(time.Until(next))
	}
}

// write does the writes that are due: half of them updates of any row, the
// rest inserts of new rows and deletes of those.
func (a *application) write(ctx context.Context, n uint64) {
	random := rand.New(rand.NewPCG(1, n))
	var mine []int64
	for at := range a.due {
		err := a.one(ctx, random, &mine)
		a.done(at, time.Now(), err)
	}
}

func (a *application) one(ctx context.Context, random *rand.Rand, mine *[]int64) error {
	name := quote(a.site.table.Name)
	k, c := random.IntN(1_000_000), fmt.Sprintf("%0120d", random.Uint64())
	switch what := random.IntN(4); {
	case what < 2:
		_, err := a.db.ExecContext(ctx, "UPDATE "+name+" SET k = ?, c = ? WHERE id = ?", k, c, 1+random.Int64N(a.site.table.Rows))
		return err
	case what == 2 || len(*mine) == 0:
		result, err := a.db.ExecContext(ctx, "INSERT INTO "+name+" (k, c, pad) VALUES (?, ?, ?)", k, c, c[:60])
		if err != nil {
			return err
		}
		id, err := result.LastInsertId()
		*mine = append(*mine, id)
		return err
	}
	last := len(*mine) - 1
	id := (*mine)[last]
	*mine = (*mine)[:last]
	_, err := a.db.ExecContext(ctx, "DELETE FROM "+name+" WHERE id = ?", id)
	return err
}

// done records a write.
func (a *application) done(due, now time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.from.IsZero() || due.Before(a.from) || !a.till.IsZero() && due.After(a.till) {
		return
	}
	a.made++
	if a.till.IsZero() || !now.After(a.till) {
		a.inTime++
	}
	if err != nil {
		a.failed++
		if a.failure == "" {
			a.failure = err.Error()
		}
	}
	// One that took longer than the histogram goes counts as its longest.
	_ = a.latency.RecordValue(min(now.Sub(due), slowest).Microseconds())
}

// begin starts the record.
func (a *application) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.from = time.Now()
}

// end ends the record, waits for the writes that were due, and returns what
// was felt.
func (a *application) end() (figures.Felt, error) {
	a.mu.Lock()
	a.till = time.Now()
	a.mu.Unlock()
	close(a.quit)
	a.wg.Wait()
	if err := a.db.Close(); err != nil {
		return figures.Felt{}, fmt.Errorf("close database: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	milliseconds := func(microseconds int64) float64 { return float64(microseconds) / 1000 }
	return figures.Felt{
		Rate: a.rate, Due: a.made, Failed: a.failed, Failure: a.failure,
		Throughput: float64(a.inTime-min(a.failed, a.inTime)) / a.till.Sub(a.from).Seconds(),
		P50:        milliseconds(a.latency.ValueAtQuantile(50)),
		P99:        milliseconds(a.latency.ValueAtQuantile(99)),
		P999:       milliseconds(a.latency.ValueAtQuantile(99.9)),
		Max:        milliseconds(a.latency.Max()),
	}, nil
}

// load times a contender beside the application.
func (b *bench) load(ctx context.Context, c contender, rate int) (figures.Run, error) {
	app, err := startApplication(ctx, b.site, rate)
	if err != nil {
		return figures.Run{}, err
	}
	warm := idle(warmUp)
	if _, err := warm.run(ctx); err != nil {
		_, _ = app.end()
		return figures.Run{}, err
	}
	app.begin()
	run, err := b.whole(ctx, c)
	felt, ended := app.end()
	run.Felt = &felt
	return run, errors.Join(err, ended)
}
