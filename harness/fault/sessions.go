package fault

import (
	"context"
	"fmt"
	"strconv"

	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/topology"
	"rowproof/harness/workload"
)

// Sessions picks sessions of servers: those of clients, and the threads that
// replication has.
type Sessions struct {
	name  string
	steps []step.Step // that the subject must have for there to be any
	find  func(context.Context, *Site) ([]sessionOn, error)
}

// sessionOn is one of them, on its server.
type sessionOn struct {
	server  *topology.Server
	id      uint64 // as in SHOW PROCESSLIST
	subject bool   // it is the subject's
}

// Sending is the session in which the subject has a statement of the step
// under way, or else, in which it is held before or after the server has done
// it.
func Sending(s step.Step) Sessions {
	return Sessions{name: "the session that sends " + string(s), steps: []step.Step{s}, find: func(_ context.Context, site *Site) ([]sessionOn, error) {
		var found []sessionOn
		for _, c := range site.Proxy.InFlight() {
			if c.Step == s {
				found = append(found, sessionOn{site.Cluster.Source(), uint64(c.ServerThread), true})
			}
		}
		if len(found) > 0 {
			return found, nil
		}
		marks := site.Recorder.Marks()
		for i := len(marks) - 1; i >= 0; i-- {
			m := marks[i]
			if m.Step != string(s) || m.Name != history.MarkHeld && m.Name != history.MarkReleased {
				continue
			}
			if m.Name == history.MarkReleased {
				break
			}
			id, err := strconv.ParseUint(m.Data["thread"], 10, 64)
			return []sessionOn{{site.Cluster.Source(), id, true}}, err
		}
		return nil, nil
	}}
}

// Sent is the session in which the subject last sent a statement of the step,
// whatever it has done since.
func Sent(s step.Step) Sessions {
	return Sessions{name: "the session that last sent " + string(s), steps: []step.Step{s}, find: func(_ context.Context, site *Site) ([]sessionOn, error) {
		marks := site.Recorder.Marks()
		for i := len(marks) - 1; i >= 0; i-- {
			if m := marks[i]; m.Step == string(s) && m.Name == history.MarkStepSent {
				id, err := strconv.ParseUint(m.Data["thread"], 10, 64)
				return []sessionOn{{site.Cluster.Source(), id, true}}, err
			}
		}
		return nil, nil
	}}
}

// SubjectStreams are the sessions in which the source sends its binlog to the
// subject.
func SubjectStreams() Sessions {
	return onSource("the subject's binlog stream", true, "USER IN (?, ?) AND COMMAND LIKE 'Binlog Dump%'",
		topology.Migrator().User, topology.Tool().User)
}

// ReplicaStreams are the sessions in which the source sends its binlog to its
// replicas.
func ReplicaStreams() Sessions {
	return onSource("the replica's binlog stream", false, "USER = ? AND COMMAND LIKE 'Binlog Dump%'", topology.Replicator().User)
}

// ApplicationSessions are all sessions of the application, the faults' own
// writers among them.
func ApplicationSessions() Sessions {
	return onSource("the application's sessions", false, "USER = ?", topology.App().User)
}

// Writing is the session in which a write of the application is under way,
// as one that waits for its ACK is.
func Writing(w workload.Write) Sessions {
	return onSource("the session of "+w.SQL, false, "USER = ? AND INFO = ?", topology.App().User, w.SQL)
}

// onSource are the sessions of the source that a condition on the processlist
// picks.
func onSource(name string, subject bool, condition string, args ...any) Sessions {
	return Sessions{name: name, find: func(ctx context.Context, site *Site) ([]sessionOn, error) {
		query := "SELECT ID FROM information_schema.PROCESSLIST WHERE " + condition
		return sessionsOf(ctx, site.Cluster.Source(), subject, query, args...)
	}}
}

// Appliers are the threads of every replica that read its relay log and hand
// the transactions to its workers: while they stand, nothing new is applied.
func Appliers() Sessions {
	return onReplicas("the replica's applier", "NAME IN ('thread/sql/replica_sql', 'thread/sql/slave_sql')")
}

// Workers are the threads of every replica that apply transactions.
func Workers() Sessions {
	return onReplicas("the replica's workers", "NAME IN ('thread/sql/replica_worker', 'thread/sql/slave_worker')")
}

// onReplicas are the threads of replicas that a condition on the performance
// schema picks.
func onReplicas(name, condition string) Sessions {
	return Sessions{name: name, find: func(ctx context.Context, site *Site) ([]sessionOn, error) {
		var all []sessionOn
		for _, replica := range site.Cluster.Replicas() {
			if err := needThreads(site); err != nil {
				return nil, err
			}
			query := "SELECT PROCESSLIST_ID FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL AND " + condition
			found, err := sessionsOf(ctx, replica, false, query)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}}
}

// needThreads says in one line what is missing where threads are not known.
func needThreads(site *Site) error {
	if !site.Cluster.Spec().PerformanceSchema {
		return fmt.Errorf("find threads: the servers run without the performance schema: set Spec.PerformanceSchema")
	}
	return nil
}

func sessionsOf(ctx context.Context, server *topology.Server, subject bool, query string, args ...any) ([]sessionOn, error) {
	rows, err := server.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("find sessions of %s: %w", server.Name, err)
	}
	defer rows.Close()
	var found []sessionOn
	for rows.Next() {
		one := sessionOn{server: server, subject: subject}
		if err := rows.Scan(&one.id); err != nil {
			return nil, fmt.Errorf("find sessions of %s: %w", server.Name, err)
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// all returns the sessions, of which there must be one at least.
func (w Sessions) all(ctx context.Context, site *Site) ([]sessionOn, error) {
	found, err := w.find(ctx, site)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no such session")
	}
	return found, err
}
