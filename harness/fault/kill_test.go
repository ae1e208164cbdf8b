package fault_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// send has the subject send a statement, and delivers its error.
func (r *rig) send(t *testing.T, statement string) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := r.subject.ExecContext(context.WithoutCancel(t.Context()), statement)
		ended <- err
	}()
	return ended
}

// number is the server's number of an error, 0 if it is none of the server's.
func number(err error) uint16 {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return answer.Number
	}
	return 0
}

func TestKill(t *testing.T) {
	const slow = "/* osc:copy-write */ SELECT SLEEP(60)"
	sleeping := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%SELECT SLEEP(60)' AND COMMAND = 'Query'"

	t.Run("OK/StatementOfTheSubjectInFlight", func(t *testing.T) {
		r := newRig(t, plain, false)
		armed := fault.Plan{fault.OnceSent(step.CopyWrite, fault.KillQuery(fault.Sending(step.CopyWrite)))}.Arm(t.Context(), r.Site)
		ended := r.send(t, "/* osc:copy-write */ SELECT COUNT(*) FROM information_schema.COLUMNS a, information_schema.COLUMNS b, information_schema.COLUMNS c WHERE SLEEP(0.001) = 1")
		if got := number(<-ended); got != 1317 {
			t.Errorf("error of the statement: got %d, want 1317", got)
		}
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
		r.exec(t, "DO 1") // its session is there
		r.await(t, history.MarkHeld, "the killed statement is answered")
	})

	t.Run("OK/SessionOfTheSubjectInFlight", func(t *testing.T) {
		r := newRig(t, plain, false)
		armed := fault.Plan{fault.OnceSent(step.CopyWrite, fault.Kill(fault.Sending(step.CopyWrite)))}.Arm(t.Context(), r.Site)
		if err := <-r.send(t, slow); err == nil {
			t.Error("the statement: got no error, want a lost connection")
		}
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
		if got := text(t, r.Cluster.Source().DB, sleeping); got != "0" {
			t.Errorf("sessions that sleep: got %s, want 0", got)
		}
		r.fired(t, 1)
	})

	t.Run("OK/SessionOfTheSubjectWhileHeld", func(t *testing.T) {
		r := newRig(t, plain, false)
		armed := fault.Plan{fault.Before(step.CopyWrite, fault.Kill(fault.Sending(step.CopyWrite)))}.Arm(t.Context(), r.Site)
		if err := <-r.send(t, "/* osc:copy-write */ DO 1"); err == nil {
			t.Error("the statement: got no error, want a lost connection")
		}
		if err := armed.Stop(); err != nil {
			t.Error(err)
		}
		r.fired(t, 1)
	})

	t.Run("OK/StatementOfAWrite", func(t *testing.T) {
		r := newRig(t, plain, false)
		w := workload.Update(r.Table, "1", history.Row{"name": history.Text("changed")})
		lock, err := r.Cluster.Source().DB.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Exec("SELECT * FROM `" + r.Schema + "`.pair FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		client := workload.NewClient("waits", r.App, r.Recorder)
		defer closing(t, client.Close)
		pending, err := client.Start(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		r.eventually(t, "the write waits", func() bool {
			waiting, err := r.Cluster.Source().Status(t.Context(), "Innodb_row_lock_current_waits")
			if err != nil {
				t.Fatal(err)
			}
			return waiting == "1"
		})
		r.do(t, fault.KillQuery(fault.Writing(w)))
		if got := number(pending.Wait(t.Context())); got != 1317 {
			t.Errorf("error of the write: got %d, want 1317", got)
		}
		closing(t, lock.Rollback)
	})

	t.Run("OK/SessionsOfTheApplication", func(t *testing.T) {
		r := newRig(t, plain, false)
		conn, err := r.App.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.do(t, fault.Kill(fault.ApplicationSessions()))
		if err := conn.PingContext(t.Context()); err == nil {
			t.Error("ping of a killed session: got no error")
		}
	})

	t.Run("OK/StreamOfAReplica", func(t *testing.T) {
		r := newRig(t, semiSync, false)
		source := r.Cluster.Source().DB
		query := "SELECT COALESCE(MAX(ID), 0) FROM information_schema.PROCESSLIST WHERE USER = ? AND COMMAND LIKE 'Binlog Dump%'"
		before := text(t, source, query, topology.Replicator().User)
		r.do(t, fault.Kill(fault.ReplicaStreams()))
		r.eventually(t, "the replica has connected again", func() bool {
			now := text(t, source, query, topology.Replicator().User)
			return now != "0" && now != before
		})
	})

	t.Run("ErrAnsweredNevertheless", func(t *testing.T) {
		r := newRig(t, plain, false)
		answer := r.send(t, slow)
		r.eventually(t, "the statement sleeps", func() bool {
			return text(t, r.Cluster.Source().DB, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'") == "1"
		})
		if err := r.try(fault.KillQuery(fault.Sending(step.CopyWrite))); err == nil {
			t.Error("got no error")
		}
		if err := <-answer; err != nil { // SLEEP is content with being interrupted
			t.Errorf("the statement: got %v, want an answer", err)
		}
		r.fired(t, 0)
	})

	t.Run("ErrNoSuchSession", func(t *testing.T) {
		r := newRig(t, plain, false)
		if err := r.try(fault.Kill(fault.SubjectStreams())); err == nil {
			t.Error("got no error")
		}
	})
}

// fired checks how many faults have fired.
func (r *rig) fired(t *testing.T, want int) {
	t.Helper()
	if got := r.marks(history.MarkFaultFired); got != want {
		t.Errorf("marks of fired faults: got %d, want %d", got, want)
	}
}

func TestSubjectStream(t *testing.T) {
	for _, account := range []topology.Account{topology.Migrator(), topology.Tool()} {
		t.Run("OK/"+account.User, func(t *testing.T) {
			r := newRig(t, plain, false)
			stream, err := wire.JoinReplica(t.Context(), wire.ReplicaConfig{
				Addr: r.Proxy.Addr(), User: account.User, Password: account.Password,
				ServerID: 78, UUID: "5b1d8f6e-0000-11ee-8000-000000000078", From: r.logEnd(t),
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closing(t, stream.Close) })
			r.do(t, fault.Kill(fault.SubjectStreams()))
			ends(t, stream)
			r.fired(t, 1)
		})
	}
}
