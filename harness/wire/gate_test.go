package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"rowproof/harness/step"
	"rowproof/harness/wire"
)

const (
	read  = "/* osc:range-read */ select min(id), max(id) from t"
	write = "/* osc:apply */ replace into s select * from t"
)

func migrationServer(t testing.TB) *fakeServer {
	return serve(t, capDeprecateEOF, answers(map[string][]result{
		read:         {{columns: []string{"min(id)", "max(id)"}, rows: [][]string{{"1", "NULL"}}}},
		read + " ?":  {{columns: []string{"min(id)", "max(id)"}, rows: [][]string{{"1", "9"}}}},
		write:        {{affected: 3}},
		write + " ?": {{affected: 3}},
	}))
}

// outcome is what a client saw of a statement.
type outcome struct {
	affected int64
	err      error
}

// exec sends a statement, prepared or not, and tells its outcome.
func exec(ctx context.Context, db *sql.DB, sql string, prepared bool) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var args []any
		if prepared {
			sql, args = sql+" ?", []any{1}
		}
		r, err := db.ExecContext(ctx, sql, args...)
		o := outcome{err: err}
		if err == nil {
			o.affected, _ = r.RowsAffected()
		}
		done <- o
	}()
	return done
}

func TestGate(t *testing.T) {
	for _, mode := range []struct {
		name     string
		prepared bool
		kind     wire.Kind
		suffix   string
	}{{"Query", false, wire.KindQuery, ""}, {"Execute", true, wire.KindExecute, " ?"}} {
		t.Run(mode.name, func(t *testing.T) {
			sent := write + mode.suffix
			setup := func(t *testing.T, rule wire.Rule) (*fakeServer, *wire.Proxy, *sql.DB, *wire.Gate) {
				s := migrationServer(t)
				p := listen(t, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc")})
				t.Cleanup(func() { noErr(t, p) })
				return s, p, open(t, p.Addr()), p.Gate(rule)
			}
			hit := func(t *testing.T, g *wire.Gate) wire.Hit {
				t.Helper()
				h, err := g.Wait(deadline(t))
				if err != nil {
					t.Fatal(err)
				}
				if h.Command.Kind != mode.kind || h.Command.SQL != sent || h.Command.Step != step.Apply || h.Command.ServerThread != 4711 {
					t.Errorf("hit: %+v", h.Command)
				}
				return h
			}

			t.Run("HoldBefore", func(t *testing.T) {
				s, p, db, g := setup(t, wire.Rule{Step: step.Apply})
				done := exec(deadline(t), db, write, mode.prepared)
				hit(t, g)
				if n := s.count(sent); n != 0 {
					t.Errorf("the server saw a held command %d times", n)
				}
				if got := p.InFlight(); len(got) != 0 {
					t.Errorf("in flight while held: %+v", got)
				}
				g.Release()
				g.Release()
				if got := <-done; got.err != nil || got.affected != 3 {
					t.Errorf("outcome %+v", got)
				}
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil {
					t.Errorf("a released gate still acts: %v", got.err)
				}
				if g.Hits() != 1 {
					t.Errorf("hits: got %d, want 1", g.Hits())
				}
			})
			t.Run("HoldAfter", func(t *testing.T) {
				s, p, db, g := setup(t, wire.Rule{Step: step.Apply, Phase: wire.After})
				done := exec(deadline(t), db, write, mode.prepared)
				h := hit(t, g)
				if h.Reply == nil || h.Reply.AffectedRows != 3 || h.Reply.Err != nil {
					t.Errorf("reply: %+v", h.Reply)
				}
				if n := s.count(sent); n != 1 {
					t.Errorf("the server saw it %d times, want 1", n)
				}
				if got := p.InFlight(); len(got) != 0 {
					t.Errorf("in flight after the answer: %+v", got)
				}
				select {
				case o := <-done:
					t.Errorf("the client got a held reply: %+v", o)
				default:
				}
				g.Release()
				if got := <-done; got.err != nil || got.affected != 3 {
					t.Errorf("outcome %+v", got)
				}
			})
			t.Run("OtherStep", func(t *testing.T) {
				s, _, db, g := setup(t, wire.Rule{Step: step.Attach, Or: step.Apply, Action: wire.CutBefore})
				got := <-exec(deadline(t), mustConn(t, db), write, mode.prepared)
				hit(t, g)
				<-s.gone
				if got.err == nil {
					t.Error("got no error")
				}
			})
			t.Run("Thread", func(t *testing.T) {
				_, p, db, g := setup(t, wire.Rule{Thread: 4711, Action: wire.Observe})
				other := p.Gate(wire.Rule{Thread: 4712, Action: wire.CutBefore})
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil {
					t.Errorf("outcome %+v", got)
				}
				hit(t, g)
				if n := other.Hits(); n != 0 {
					t.Errorf("hits of a gate for another connection: %d", n)
				}
			})
			t.Run("CutBefore", func(t *testing.T) {
				s, _, db, g := setup(t, wire.Rule{Step: step.Apply, Action: wire.CutBefore})
				got := <-exec(deadline(t), mustConn(t, db), write, mode.prepared)
				hit(t, g)
				<-s.gone
				if got.err == nil || s.count(sent) != 0 {
					t.Errorf("outcome %+v, the server saw it %d times", got, s.count(sent))
				}
			})
			t.Run("CutAfter", func(t *testing.T) {
				s, _, db, g := setup(t, wire.Rule{Step: step.Apply, Action: wire.CutAfter, Occurrence: 1})
				got := <-exec(deadline(t), mustConn(t, db), write, mode.prepared)
				h := hit(t, g)
				<-s.gone
				if got.err == nil || s.count(sent) != 1 {
					t.Errorf("outcome %+v, the server saw it %d times", got, s.count(sent))
				}
				if h.Reply.AffectedRows != 3 {
					t.Errorf("reply: %+v", h.Reply)
				}
			})
			t.Run("Swallow", func(t *testing.T) {
				s, _, db, g := setup(t, wire.Rule{Pattern: rx(`replace into s`), Action: wire.Swallow})
				got := <-exec(deadline(t), db, write, mode.prepared)
				hit(t, g)
				if got.err != nil || got.affected != 0 || s.count(sent) != 0 {
					t.Errorf("outcome %+v, the server saw it %d times", got, s.count(sent))
				}
				g.Remove()
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil || got.affected != 3 {
					t.Errorf("after Remove: %+v", got)
				}
			})
			t.Run("Occurrence", func(t *testing.T) {
				s, _, db, g := setup(t, wire.Rule{Step: step.Apply, Occurrence: 2, Role: wire.SQL, Kind: mode.kind})
				db.SetMaxOpenConns(1)
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil {
					t.Fatal(got.err)
				}
				done := exec(deadline(t), db, write, mode.prepared)
				h := hit(t, g)
				if h.Occurrence != 2 || h.Command.StepOccurrence != 2 || s.count(sent) != 1 {
					t.Errorf("hit %+v, seen %d", h, s.count(sent))
				}
				g.Remove()
				if got := <-done; got.err != nil {
					t.Error(got.err)
				}
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil {
					t.Error(got.err)
				}
			})
			t.Run("ClientLeaves", func(t *testing.T) {
				for _, phase := range []wire.Phase{wire.Before, wire.After} {
					s, _, db, g := setup(t, wire.Rule{Step: step.Apply, Phase: phase})
					ctx, leave := context.WithCancel(deadline(t))
					done := exec(ctx, db, write, mode.prepared)
					hit(t, g)
					leave()
					if got := <-done; !errors.Is(got.err, context.Canceled) {
						t.Errorf("%s: %v", phase, got.err)
					}
					<-s.gone // the proxy let go of the server, too
				}
			})
			t.Run("ClientLeavesAsItIsLetGo", func(t *testing.T) {
				for range 50 {
					s, _, db, g := setup(t, wire.Rule{Step: step.Apply, Phase: wire.Before})
					ctx, leave := context.WithCancel(deadline(t))
					done := exec(ctx, db, write, mode.prepared)
					hit(t, g)
					leave()
					<-done
					g.Release()
					<-s.gone
					if got := s.count(sent); got != 0 {
						t.Fatalf("statements of a client that was gone: got %d, want 0", got)
					}
				}
			})
			t.Run("ProxyCloses", func(t *testing.T) {
				for _, phase := range []wire.Phase{wire.Before, wire.After} {
					_, p, db, g := setup(t, wire.Rule{Step: step.Apply, Phase: phase})
					done := exec(deadline(t), db, write, mode.prepared)
					hit(t, g)
					p.Close()
					if got := <-done; got.err == nil {
						t.Errorf("%s: a held command went through", phase)
					}
					if _, err := g.Wait(deadline(t)); !errors.Is(err, wire.ErrGateClosed) {
						t.Errorf("wait: %v", err)
					}
				}
			})
			t.Run("Observe", func(t *testing.T) {
				_, p, db, before := setup(t, wire.Rule{Step: step.Apply, Action: wire.Observe})
				after := p.Gate(wire.Rule{Step: step.Apply, Action: wire.Observe, Phase: wire.After})
				if got := <-exec(deadline(t), db, write, mode.prepared); got.err != nil {
					t.Fatal(got.err)
				}
				if h := hit(t, before); h.Reply != nil || h.Command.Sent.IsZero() {
					t.Errorf("before: %+v", h)
				}
				if h := hit(t, after); h.Reply == nil {
					t.Errorf("after: %+v", h)
				}
			})
		})
	}
}

// mustConn makes a connection beforehand, so that database/sql can't retry a
// lost statement on a fresh one unseen.
func mustConn(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func TestHeldReplyShowsRows(t *testing.T) {
	s := migrationServer(t)
	p := listen(t, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc")})
	db := open(t, p.Addr())
	for _, prepared := range []bool{false, true} {
		g := p.Gate(wire.Rule{Step: step.RangeRead, Phase: wire.After})
		done := exec(deadline(t), db, read, prepared)
		h, err := g.Wait(deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		one, nine := "1", "9"
		want := &wire.Reply{Columns: []string{"min(id)", "max(id)"}, Rows: [][]*string{{&one, nil}}, RowCount: 1}
		if prepared {
			want.Rows[0][1] = &nine
		}
		if diff := cmp.Diff(want, h.Reply); diff != "" {
			t.Errorf("prepared %t: reply (-want +got):\n%s", prepared, diff)
		}
		g.Remove()
		if got := <-done; got.err != nil {
			t.Error(got.err)
		}
	}
	noErr(t, p)
}

func TestAwaitAndInFlight(t *testing.T) {
	s := serve(t, 0, answers(map[string][]result{write: {{hang: true}}}))
	p := listen(t, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc")})
	db := open(t, p.Addr())
	sent := p.Gate(wire.Rule{Step: step.Apply, Action: wire.Observe})
	ctx, leave := context.WithCancel(deadline(t))
	done := exec(ctx, db, write, false)
	if _, err := sent.Wait(deadline(t)); err != nil {
		t.Fatal(err)
	}
	got := p.InFlight()
	if len(got) != 1 || got[0].SQL != write || got[0].ServerThread != 4711 || got[0].Sent.IsZero() {
		t.Errorf("in flight: %+v", got)
	}
	leave()
	<-done
	<-s.gone

	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Await(short, step.Rename, wire.After); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("await what never comes: %v", err)
	}
	noErr(t, p)
}

func TestManyHits(t *testing.T) {
	s := migrationServer(t)
	p := listen(t, s, wire.Config{Phrasebook: wire.CommentPhrasebook("osc")})
	db := open(t, p.Addr())
	g := p.Gate(wire.Rule{Step: step.Apply})
	var waits []<-chan outcome
	for range 5 {
		waits = append(waits, exec(deadline(t), db, write, false))
	}
	for range 5 {
		if _, err := g.Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
	}
	g.Release()
	for _, w := range waits {
		if got := <-w; got.err != nil {
			t.Error(got.err)
		}
	}
	if g.Hits() != 5 {
		t.Errorf("hits: got %d, want 5", g.Hits())
	}
}
