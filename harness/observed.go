package harness

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/check"
	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/topology"
)

// observe reads what the run has left on the servers.
func (r *run) observe(ctx context.Context) error {
	if err := r.cluster.WaitReplicated(ctx); err != nil {
		return err
	}
	source, o := r.cluster.Source(), &r.record.Observed
	after, err := observe.Describe(ctx, source.DB, r.table())
	if err != nil {
		return err
	}
	o.Binlog, err = observe.Binlog(ctx, source.DB, observe.BinlogSource{
		Server: source.Config(topology.Replicator(), ""), From: r.from[source.Name],
		Schema: topology.Database, Table: r.scenario.Table.Name, Before: r.before, After: after,
	})
	if err != nil {
		return err
	}
	swap, swapped := findSwap(o.Binlog, r.scenario.Table.Name)
	r.settleSwapped(swapped)
	if o.Final, err = observe.RowsBy(ctx, source.DB, r.table(), r.finalKey(), observe.TouchedKeys(r.record.Ops)); err != nil {
		return err
	}
	allowed := observe.Allowed{User: account(r.under).User}
	if swapped {
		allowed.Tables = []observe.TableRef{{Schema: topology.Database, Name: swap.old}}
	}
	if o.LeftBehind, err = observe.Leftovers(ctx, source.DB, r.inventory, allowed); err != nil {
		return err
	}
	if swapped {
		if err := r.compareWithOracle(ctx, swap); err != nil {
			return err
		}
	}
	return r.compareReplicas(ctx)
}

// finalKey returns the key's columns as they are called now: those of the
// original's key, whatever the ALTER has made of that.
func (r *run) finalKey() []string {
	var columns []string
	for _, name := range r.scenario.Table.Key {
		if to, ok := r.scenario.Renames[name]; ok && r.record.Exit.Outcome == Completed {
			name = to
		}
		columns = append(columns, name)
	}
	return columns
}

// swap is the statement that put the new table in the original's place.
type swap struct {
	old   string        // the original's name afterwards
	since []history.Key // keys of the new table written after it
}

func findSwap(binlog []history.BinlogRow, table string) (found swap, ok bool) {
	for _, b := range binlog {
		if b.Kind == "ddl" {
			for _, rename := range check.Renames(b.SQL) {
				from, to := bare(rename.From), bare(rename.To)
				switch {
				case from == table:
					found, ok = swap{old: to}, true
				case ok && from == found.old && to == table: // undone
					found, ok = swap{}, false
				}
			}
			continue
		}
		if ok && b.Table == table {
			found.since = append(found.since, b.Key)
			if b.NewKey != "" {
				found.since = append(found.since, b.NewKey)
			}
		}
	}
	return found, ok
}

// bare takes a schema off a table's name.
func bare(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

// compareWithOracle compares the final table with the old one taken through
// MySQL's own ALTER; where MySQL refuses that, with the old one as it is, of
// which no row and no value may be missing. Rows that were written after the
// swap are not in the old table; the ledger alone judges them.
func (r *run) compareWithOracle(ctx context.Context, s swap) (err error) {
	db := r.cluster.Source().DB
	old := observe.TableRef{Schema: topology.Database, Name: s.old}
	got := observe.Side{DB: db, Table: r.table()}
	o := &r.record.Observed
	oracle, err := observe.Oracle(ctx, db, old, r.scenario.finalAlter())
	defer func() { err = errors.Join(err, observe.DropOracle(context.WithoutCancel(ctx), db, oracle)) }()
	if errors.Is(err, observe.ErrRefused) {
		against := "the old table " + s.old + ", for " + err.Error()
		o.Comparison, err = observe.Compare(ctx, observe.Side{DB: db, Table: old}, got, observe.Options{Exclude: s.since})
		o.Comparison.Against = against
		return err
	}
	if err != nil {
		return err
	}
	want := observe.Side{DB: db, Table: oracle}
	if o.Comparison, err = observe.Compare(ctx, want, got, observe.Options{Exclude: s.since}); err != nil {
		return err
	}
	o.Comparison.Against = "the old table " + s.old + ", taken through MySQL's own ALTER"
	o.Schema, err = observe.Schema(ctx, want, got)
	if len(s.since) > 0 {
		o.Schema = slices.DeleteFunc(o.Schema, countedOn)
	}
	return err
}

// countedOn tells a next AUTO_INCREMENT number that is higher than the old
// table's. It is no difference once rows were inserted after the swap.
func countedOn(d history.SchemaDiff) bool {
	want, errWant := strconv.ParseUint(d.Want, 10, 64)
	got, errGot := strconv.ParseUint(d.Got, 10, 64)
	return d.Object == "option AUTO_INCREMENT" && errWant == nil && errGot == nil && got > want
}

func (r *run) compareReplicas(ctx context.Context) error {
	source := observe.Side{DB: r.cluster.Source().DB, Table: r.table()}
	o := &r.record.Observed
	for _, replica := range r.cluster.Replicas() {
		side := observe.Side{DB: replica.DB, Table: r.table()}
		comparison, err := observe.Compare(ctx, source, side, observe.Options{})
		if err != nil {
			return err
		}
		for _, diff := range comparison.Diffs {
			o.Replicas = append(o.Replicas, history.ReplicaDiff{Server: replica.Name, Row: &diff})
		}
		definition, err := observe.Schema(ctx, source, side)
		if err != nil {
			return err
		}
		for _, diff := range definition {
			o.Replicas = append(o.Replicas, history.ReplicaDiff{
				Server: replica.Name, Text: fmt.Sprintf("%s: the source has %q, the replica %q", diff.Object, diff.Want, diff.Got),
			})
		}
	}
	return nil
}

func openDB(config *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("connect the application: %w", err)
	}
	return sql.OpenDB(connector), nil
}
