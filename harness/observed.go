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
		if saved := tablesOf(r.under, r.scenario.Table.Name).Saved; saved != "" {
			allowed.Tables = append(allowed.Tables, observe.TableRef{Schema: topology.Database, Name: saved})
		}
	}
	if o.LeftBehind, err = observe.Leftovers(ctx, source.DB, r.inventory, allowed); err != nil {
		return err
	}
	switch {
	case swapped:
		err = r.compareWithOld(ctx, swap)
	case r.record.Exit.Outcome == Completed:
		err = r.compareWithItself(ctx)
	}
	if err != nil {
		return err
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

// compareWithOld compares the final table with the old one taken through
// MySQL's own ALTER; where MySQL refuses that, with the old one as it is, of
// which no row and no value may be missing. Rows that were written after the
// swap are not in the old table; the ledger alone judges them.
func (r *run) compareWithOld(ctx context.Context, s swap) error {
	old := observe.TableRef{Schema: topology.Database, Name: s.old}
	o := &r.record.Observed
	err := r.compareWithOracle(ctx, old, s.since)
	if errors.Is(err, observe.ErrRefused) {
		db := r.cluster.Source().DB
		against := "the old table " + s.old + ", for " + err.Error()
		o.Comparison, err = observe.Compare(ctx, observe.Side{DB: db, Table: old}, observe.Side{DB: db, Table: r.table()}, observe.Options{Exclude: s.since})
		o.Comparison.Against = against
		return err
	}
	o.Comparison.Against = "the old table " + s.old + ", taken through MySQL's own ALTER"
	if len(s.since) > 0 {
		o.Schema = slices.DeleteFunc(o.Schema, countedOn)
	}
	return err
}

// compareWithItself compares the table of a subject that says that it is done,
// and has swapped nothing, with the same table taken through MySQL's own
// ALTER: that changes nothing if the subject had the server alter the table in
// place. Where MySQL refuses it nothing can be told by it.
func (r *run) compareWithItself(ctx context.Context) error {
	err := r.compareWithOracle(ctx, r.table(), nil)
	if errors.Is(err, observe.ErrRefused) {
		return nil
	}
	r.record.Observed.Comparison.Against = "itself, taken through MySQL's own ALTER"
	return err
}

// compareWithOracle compares the final table with another one taken through
// MySQL's own ALTER, but for rows with these keys.
func (r *run) compareWithOracle(ctx context.Context, other observe.TableRef, except []history.Key) (err error) {
	db := r.cluster.Source().DB
	oracle, err := observe.Oracle(ctx, db, other, r.scenario.finalAlter())
	defer func() { err = errors.Join(err, observe.DropOracle(context.WithoutCancel(ctx), db, oracle)) }()
	if err != nil {
		return err
	}
	o, want, got := &r.record.Observed, observe.Side{DB: db, Table: oracle}, observe.Side{DB: db, Table: r.table()}
	if o.Comparison, err = observe.Compare(ctx, want, got, observe.Options{Exclude: except}); err != nil {
		return err
	}
	o.Schema, err = observe.Schema(ctx, want, got)
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
