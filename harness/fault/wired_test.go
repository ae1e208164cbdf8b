package fault_test

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"
	"time"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
)

// val reads a row's counter as the application sees it.
func (r *rig) val(t *testing.T, id int) (val int) {
	t.Helper()
	if err := r.App.QueryRowContext(t.Context(), "SELECT val FROM pair WHERE id = ?", id).Scan(&val); err != nil {
		t.Fatal(err)
	}
	return val
}

// conn is one connection of the subject: nothing is tried again on another.
func (r *rig) conn(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := r.subject.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // it may be broken
	return conn
}

// arm arms a plan; the function that it returns stops it.
func (r *rig) arm(t *testing.T, plan fault.Plan) (stop func()) {
	t.Helper()
	armed := plan.Arm(t.Context(), r.Site)
	return func() {
		t.Helper()
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// await waits for a mark of this name that tells of the fault or label.
func (r *rig) await(t *testing.T, name, of string) history.Mark {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		for _, m := range r.Recorder.Marks() {
			if m.Name == name && (m.Data["fault"] == of || m.Data["label"] == of || m.Data["gate"] == of) {
				return m
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("no mark %s of %q", name, of)
		case <-tick.C:
		}
	}
}

func add(id string) string { return "/* osc:apply */ UPDATE pair SET val = val + 1 WHERE id = " + id }

func TestWired(t *testing.T) {
	r := newRig(t, plain, false)

	t.Run("OK/CutBefore", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.CutBefore(step.Apply)})
		defer stop()
		before := r.val(t, 1)
		if _, err := r.conn(t).ExecContext(t.Context(), add("1")); err == nil {
			t.Error("the client of a cut connection got an answer")
		}
		r.await(t, history.MarkFaultFired, "before apply: cut the connection")
		r.await(t, history.MarkFaultEnded, "before apply: cut the connection")
		if got := r.val(t, 1); got != before {
			t.Errorf("val: got %d, want %d: the server never saw the statement", got, before)
		}
		r.exec(t, add("1")) // only the first
	})
	t.Run("OK/CutAfter", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.CutAfter(step.Rename)})
		defer stop()
		before := r.val(t, 1)
		if _, err := r.conn(t).ExecContext(t.Context(), "/* osc:rename */ UPDATE pair SET val = val + 1 WHERE id = 1"); err == nil {
			t.Error("the client of a cut connection got an answer")
		}
		r.await(t, history.MarkFaultFired, "after rename: cut the connection")
		r.await(t, history.MarkFaultEnded, "after rename: cut the connection")
		if got := r.val(t, 1); got != before+1 {
			t.Errorf("val: got %d, want %d: the server has executed the statement", got, before+1)
		}
	})
	t.Run("OK/EachCutCounts", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.CutBefore(fault.Of(step.Verify).Nth(2)), fault.CutBefore(step.Verify)})
		defer stop()
		for i, broken := range []bool{true, true, false} {
			if _, err := r.conn(t).ExecContext(t.Context(), "/* osc:verify */ DO 1"); (err != nil) != broken {
				t.Errorf("statement %d: got %v, want it broken: %t", i+1, err, broken)
			}
		}
	})
	t.Run("OK/Swallow", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.Swallow(step.Sentinel)})
		defer stop()
		before := r.val(t, 2)
		for range 2 {
			r.exec(t, "/* osc:sentinel */ UPDATE pair SET val = val + 1 WHERE id = 2")
		}
		if got := r.val(t, 2); got != before+1 {
			t.Errorf("val: got %d, want %d: the first of two is swallowed", got, before+1)
		}
		r.await(t, history.MarkFaultFired, "before sentinel: swallow it")
		r.await(t, history.MarkFaultEnded, "before sentinel: swallow it")
	})
	t.Run("OK/SwallowEveryUntilEnd", func(t *testing.T) {
		tick := regexp.MustCompile(`^UPDATE pair SET val = val \+ 1 WHERE id = 3`)
		stop := r.arm(t, fault.Plan{fault.Swallow(fault.Matching(tick).Every()).As("ticks"), fault.Before(step.Unlock, fault.End("ticks"))})
		defer stop()
		before := r.val(t, 3)
		for range 3 {
			r.exec(t, "UPDATE pair SET val = val + 1 WHERE id = 3")
		}
		if got := r.val(t, 3); got != before {
			t.Errorf("val: got %d, want %d: all are swallowed", got, before)
		}
		r.await(t, history.MarkFaultFired, "ticks")
		r.exec(t, "/* osc:unlock */ DO 1")
		r.await(t, history.MarkFaultEnded, "ticks")
		r.exec(t, "UPDATE pair SET val = val + 1 WHERE id = 3")
		if got := r.val(t, 3); got != before+1 {
			t.Errorf("val: got %d, want %d: the swallowing is over", got, before+1)
		}
	})
	t.Run("OK/Delay", func(t *testing.T) {
		const by = 150 * time.Millisecond
		for _, f := range []fault.Fault{fault.Delay(step.Lock, by), fault.DelayReply(step.Drain, by)} {
			stop := r.arm(t, fault.Plan{f})
			for _, statement := range []string{"/* osc:lock */ DO 1", "/* osc:drain */ DO 1"} {
				began := time.Now()
				r.exec(t, statement)
				if took := time.Since(began); took < by && strings.Contains(fault.Plan{f}.Names()[0], statement[7:9]) {
					t.Errorf("%s took %s, want %s or more", statement, took, by)
				}
			}
			stop()
			fired := r.await(t, history.MarkFaultFired, fault.Plan{f}.Names()[0])
			ended := r.await(t, history.MarkFaultFired, fault.Plan{f}.Names()[1])
			if ended.At-fired.At < by/2 {
				t.Errorf("marks: from %s to %s, want %s between", fired.At, ended.At, by)
			}
		}
		r.await(t, history.MarkFaultEnded, "delay it by 150ms")
	})
	t.Run("OK/HoldUntilAnotherStepElsewhere", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{
			fault.Before(step.CopyWrite, fault.Until("two read")),
			fault.OnceAnswered(fault.Of(step.CopyRead).Nth(2), fault.Signal("two read")),
		})
		defer stop()
		held := make(chan error, 1)
		writer := r.conn(t)
		go func() {
			_, err := writer.ExecContext(t.Context(), "/* osc:copy-write */ UPDATE pair SET val = 1000 WHERE id = 1")
			held <- err
		}()
		r.await(t, history.MarkHeld, "before copy-write")
		for range 2 {
			select {
			case err := <-held:
				t.Errorf("the held write came back (%v) before the second read", err)
			default:
			}
			if got := r.val(t, 1); got == 1000 {
				t.Error("the held write is visible")
			}
			r.exec(t, "/* osc:copy-read */ SELECT 1")
		}
		if err := <-held; err != nil {
			t.Error(err)
		}
		if got := r.val(t, 1); got != 1000 {
			t.Errorf("val: got %d, want 1000", got)
		}
	})
	t.Run("OK/EitherStep", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.Before(fault.Of(step.Attach).Or(step.Sentinel).Nth(2), fault.Signal("the second of both"))})
		defer stop()
		held := r.marks(history.MarkHeld)
		r.exec(t, "/* osc:sentinel */ DO 1")
		r.exec(t, "/* osc:range-read */ DO 2")
		if n := r.marks(history.MarkHeld) - held; n != 0 {
			t.Errorf("%d statements were held before the second of both steps", n)
		}
		r.exec(t, "/* osc:attach */ DO 3")
		r.await(t, history.MarkHeld, "before attach or sentinel #2")
	})
	t.Run("OK/UntilAnswered", func(t *testing.T) {
		r.exec(t, "/* osc:checkpoint */ DO 1") // too early
		stop := r.arm(t, fault.Plan{fault.OnceAnswered(step.Cleanup, fault.UntilAnswered(step.Checkpoint), fault.Signal("saved"))})
		defer stop()
		saved := r.marks(history.MarkFaultFired)
		r.exec(t, "/* osc:cleanup */ DO 2")
		r.exec(t, "/* osc:range-read */ DO 3")
		if got := r.marks(history.MarkFaultFired); got != saved {
			t.Errorf("%d faults fired before the next checkpoint", got-saved)
		}
		// The fault may come to wait for it a little later than the answer came here.
		for r.marks(history.MarkFaultFired) < saved+2 && t.Context().Err() == nil {
			r.exec(t, "/* osc:checkpoint */ DO 4")
		}
		r.await(t, history.MarkFaultFired, fault.Plan{fault.OnceAnswered(step.Cleanup, fault.Signal("saved"))}.Names()[0])
	})
	t.Run("OK/UntilLongAgo", func(t *testing.T) {
		r.do(t, fault.Signal("past"), fault.Until("past"))
	})
	t.Run("OK/OnceSentWhileItRuns", func(t *testing.T) {
		stop := r.arm(t, fault.Plan{fault.OnceSent(step.Shadow, fault.Signal("on its way"))})
		defer stop()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		sleeper := r.conn(t)
		go func() {
			_, err := sleeper.ExecContext(ctx, "/* osc:shadow */ DO SLEEP(600)")
			done <- err
		}()
		r.await(t, history.MarkFaultFired, "once before shadow: on its way") // or the test never ends
		cancel()
		<-done
	})
	t.Run("ErrNoStatementComes", func(t *testing.T) {
		fired := r.marks(history.MarkFaultFired)
		stop := r.arm(t, fault.Plan{fault.CutAfter(step.Cleanup), fault.Swallow(fault.Of(step.Cleanup).Every())})
		stop()
		if got := r.marks(history.MarkFaultFired); got != fired {
			t.Errorf("marks of fired faults: got %d, want %d", got, fired)
		}
		r.exec(t, "/* osc:cleanup */ DO 1") // the gates are gone: no connection is cut
	})
	t.Run("ErrEveryCannotBeHeld", func(t *testing.T) {
		panics(t, func() { fault.Before(fault.Of(step.Apply).Every()) })
		panics(t, func() { fault.CutAfter(step.Apply).As("cut") })
	})
}

func panics(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	f()
}
