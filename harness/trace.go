package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
	"rowproof/harness/subject"
	"rowproof/harness/topology"
	"rowproof/harness/wire"
	"rowproof/harness/workload"
)

// Trace is one migration by one subject with no faults, to learn what the
// subject says.
type Trace struct {
	Root    string   // of the module
	Subject string   // as users name it
	Flags   []string // more arguments for it
	SQL     string   // statements that make and fill one table
	Alter   string   // the text after ALTER TABLE t
	Write   string   // a statement of the application, sent all the time; "": none
	Dir     string   // gets the log and the statements
}

// Run carries it out. It returns how the subject ended.
func (t Trace) Run(ctx context.Context) (exit history.Exit, err error) {
	build, err := subject.NewBuild(t.Root)
	if err != nil {
		return exit, err
	}
	defer func() { err = errors.Join(err, build.Close()) }()
	under, err := subject.Parse(build, t.Subject)
	if err != nil {
		return exit, err
	}
	cluster, err := topology.Start(ctx, specFor(topology.Spec{GTID: true}, under))
	if err != nil {
		return exit, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	return t.migrate(ctx, cluster.Source(), under)
}

func (t Trace) migrate(ctx context.Context, source *topology.Server, under subject.Subject) (exit history.Exit, err error) {
	table, err := t.load(ctx, source)
	if err != nil {
		return exit, err
	}
	statements, err := os.Create(filepath.Join(t.Dir, history.StatementsFile))
	if err != nil {
		return exit, fmt.Errorf("write statements: %w", err)
	}
	defer func() { err = errors.Join(err, statements.Close()) }()
	proxy, err := wire.Listen(context.WithoutCancel(ctx), wire.Config{
		Upstream: source.Addr, Phrasebook: under.Phrasebook(), Log: statements,
	})
	if err != nil {
		return exit, err
	}
	defer func() { err = errors.Join(err, proxy.Err(), proxy.Close()) }()
	command, err := commandFor(ctx, under, proxy.Addr(), subject.Target{Table: table, Alter: t.Alter, Verify: true, Extra: t.Flags})
	if err != nil {
		return exit, err
	}
	running, err := subject.Start(ctx, command, filepath.Join(t.Dir, history.SubjectLogFile))
	if err != nil {
		return exit, err
	}
	err = t.write(ctx, source, running.Done())
	result, waited := running.Wait(context.WithoutCancel(ctx)) // it is killed when ctx ends
	return result.Exit, errors.Join(err, waited, context.Cause(ctx))
}

// writeEvery is how often the application writes.
const writeEvery = 10 * time.Millisecond

// write writes until the subject has ended.
func (t Trace) write(ctx context.Context, source *topology.Server, done <-chan struct{}) error {
	if t.Write == "" {
		return nil
	}
	db, err := openDB(source.Config(topology.App(), topology.Database))
	if err != nil {
		return err
	}
	defer db.Close()
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-tick.C:
		}
		// A tool may take the table away for a moment, or lock it for long.
		if _, err := db.ExecContext(ctx, t.Write); err != nil && !isServerError(err) && ctx.Err() == nil {
			return fmt.Errorf("write to the table: %w", err)
		}
	}
}

func isServerError(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer)
}

// load makes the table and returns its name.
func (t Trace) load(ctx context.Context, source *topology.Server) (string, error) {
	if _, err := source.DB.ExecContext(ctx, "CREATE DATABASE "+workload.Quote(topology.Database)); err != nil {
		return "", fmt.Errorf("create database: %w", err)
	}
	config := source.Config(topology.Root(), topology.Database)
	config.MultiStatements = true
	db, err := openDB(config)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, t.SQL); err != nil {
		return "", fmt.Errorf("make the table: %w", err)
	}
	rows, err := db.QueryContext(ctx, "SHOW TABLES")
	if err != nil {
		return "", fmt.Errorf("make the table: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", fmt.Errorf("make the table: %w", err)
		}
		names = append(names, name)
	}
	if len(names) != 1 {
		return "", fmt.Errorf("make the table: the statements make %d tables, and must make one", len(names))
	}
	return names[0], rows.Err()
}
