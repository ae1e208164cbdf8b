package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"rowproof/harness/history"
)

// Inventory is what a subject could leave behind on a server.
type Inventory struct {
	Tables   []string // schema.name, views included
	Triggers []string
	Locks    []string // names of GET_LOCK locks; empty without performance_schema
	Sessions []string // of the migration's user
}

// TakeInventory lists all of it. user is the account name that the subject
// logs in with; "" lists no sessions.
func TakeInventory(ctx context.Context, db *sql.DB, user string) (Inventory, error) {
	conn, done, err := session(ctx, db)
	if err != nil {
		return Inventory{}, err
	}
	defer done()
	return inventory(ctx, conn, user)
}

const userSchemas = " NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')"

func inventory(ctx context.Context, conn *sql.Conn, user string) (Inventory, error) {
	var i Inventory
	for _, q := range []struct {
		into *[]string
		sql  string
	}{
		{&i.Tables, "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE table_schema" + userSchemas},
		{&i.Triggers, "SELECT CONCAT(trigger_schema, '.', trigger_name) FROM information_schema.triggers WHERE trigger_schema" + userSchemas},
		{&i.Locks, "SELECT object_name FROM performance_schema.metadata_locks WHERE object_type = 'USER LEVEL LOCK' AND lock_status = 'GRANTED'"},
	} {
		err := query(ctx, conn, q.sql, func(row []*string) error {
			*q.into = append(*q.into, *row[0])
			return nil
		})
		if err != nil {
			return i, fmt.Errorf("take inventory: %w", err)
		}
	}
	if user == "" {
		return i, nil
	}
	// Id, User, Host, db, Command, Time, State, Info, …
	err := query(ctx, conn, "SHOW FULL PROCESSLIST", func(row []*string) error {
		if row[1] == nil || *row[1] != user {
			return nil
		}
		name := *row[0] + " " + *row[4]
		if row[7] != nil {
			name += ": " + *row[7]
		}
		i.Sessions = append(i.Sessions, name)
		return nil
	})
	if err != nil {
		return i, fmt.Errorf("take inventory: %w", err)
	}
	return i, nil
}

// Allowed is what may be there though it was not before.
type Allowed struct {
	User   string        // whose sessions count
	Tables []TableRef    // the old table, say
	Wait   time.Duration // how long sessions and locks of a process that ended may take to go; 0 means 2 s
}

const (
	defaultWait = 2 * time.Second
	askEvery    = 20 * time.Millisecond
)

// Leftovers lists what is there now and was not before. The server notices a
// little late that a client has gone, so sessions and locks get some time.
func Leftovers(ctx context.Context, db *sql.DB, before Inventory, a Allowed) ([]history.Leftover, error) {
	conn, done, err := session(ctx, db)
	if err != nil {
		return nil, err
	}
	defer done()
	if a.Wait == 0 {
		a.Wait = defaultWait
	}
	deadline := time.NewTimer(a.Wait)
	defer deadline.Stop()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		now, err := inventory(ctx, conn, a.User)
		if err != nil {
			return nil, err
		}
		left := now.since(before, a)
		passing := slices.ContainsFunc(left, func(l history.Leftover) bool { return l.Kind == "session" || l.Kind == "lock" })
		if !passing {
			return left, nil
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return left, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("look for leftovers: %w", ctx.Err())
		}
	}
}

func (i Inventory) since(before Inventory, a Allowed) []history.Leftover {
	var left []history.Leftover
	add := func(kind string, now, before []string) {
		for _, name := range now {
			if !slices.Contains(before, name) {
				left = append(left, history.Leftover{Kind: kind, Name: name})
			}
		}
	}
	allowed := slices.Clone(before.Tables)
	for _, t := range a.Tables {
		allowed = append(allowed, t.String())
	}
	add("table", i.Tables, allowed)
	add("trigger", i.Triggers, before.Triggers)
	add("lock", i.Locks, before.Locks)
	add("session", i.Sessions, before.Sessions)
	slices.SortStableFunc(left, func(a, b history.Leftover) int { return strings.Compare(a.Kind+a.Name, b.Kind+b.Name) })
	return left
}
