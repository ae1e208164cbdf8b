package fault

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"rowproof/harness/history"
	"rowproof/harness/workload"
)

// XAPrepare does writes in an XA transaction of the application, named label,
// and prepares it. It is in the binlog from then on, readers don't see it, and
// it outlives its session and the server, until XACommit or XARollback. The
// end of the run rolls it back.
func XAPrepare(label string, writes ...workload.Write) Action {
	return undecided(label, "prepare in XA: "+summary(writes), writes, func(ctx context.Context, s *Site) (commit, rollback func(context.Context) error, err error) {
		x := &prepared{site: s, name: label, client: s.client()}
		if x.id, err = x.client.Prepare(ctx, x.xid(), writes...); err != nil {
			if left, lost := x.recovered(ctx); left || lost != nil {
				err = errors.Join(err, lost, x.rollback(ctx))
			}
			return nil, nil, err
		}
		if err := x.see(ctx, writes); err != nil {
			return nil, nil, errors.Join(err, x.rollback(ctx))
		}
		return x.commit, x.rollback, nil
	})
}

// XACommit has another session of the application commit the prepared
// transaction of this name, whether or not the server has been restarted.
func XACommit(label string) Action { return decide("XA COMMIT", label, true) }

// XARollback has another session of the application roll it back.
func XARollback(label string) Action { return decide("XA ROLLBACK", label, false) }

// prepared is an XA transaction that only a decision ends.
type prepared struct {
	site   *Site
	name   string
	client *workload.Client
	id     int  // of the operation in the record
	tried  bool // to commit it
}

func (x *prepared) xid() string { return fmt.Sprintf("X'%x'", x.name) }

// see finds the transaction prepared and its writes invisible, and marks that.
func (x *prepared) see(ctx context.Context, writes []workload.Write) error {
	there, err := x.recovered(ctx)
	if err == nil && !there {
		err = errors.New("XA RECOVER does not show the prepared transaction")
	}
	if err != nil {
		return err
	}
	for _, w := range writes {
		if err := x.site.seeOpen(ctx, w); err != nil {
			return err
		}
	}
	end, err := x.site.Cluster.Source().BinlogEnd(ctx)
	if err != nil {
		return err
	}
	x.site.Recorder.Mark(history.Mark{Lane: "source", Name: history.MarkBinlogged, Text: "XA PREPARE " + x.name, Data: map[string]string{
		"op": strconv.Itoa(x.id), "file": end.File, "pos": strconv.FormatUint(end.Pos, 10), "visible": "no",
	}})
	return nil
}

func (x *prepared) commit(ctx context.Context) error {
	x.tried = true
	err := x.decide(ctx, "XA COMMIT ")
	if err == nil {
		x.client.Decided(x.id, history.OK)
		return nil
	}
	// Nobody else decides it: if it has gone, it was committed.
	there, lost := x.recovered(ctx)
	switch {
	case lost == nil && !there:
		x.client.Decided(x.id, history.OK)
		return nil
	case lost == nil:
		return errors.Join(err, x.rollback(ctx))
	}
	// It may be prepared still; the end of the run sees to that.
	x.site.keep(effect{label: x.name, name: "XA " + x.name, end: x.rollback, commit: x.commit})
	return errors.Join(err, lost)
}

func (x *prepared) rollback(ctx context.Context) error {
	err := x.decide(ctx, "XA ROLLBACK ")
	if err == nil {
		x.client.Decided(x.id, history.Failed)
		return nil
	}
	switch there, lost := x.recovered(ctx); {
	case lost != nil, there:
		x.client.Decided(x.id, history.Unknown)
		return errors.Join(err, lost)
	case x.tried: // the COMMIT whose reply was lost has come through meanwhile
		x.client.Decided(x.id, history.OK)
	default: // so has the ROLLBACK
		x.client.Decided(x.id, history.Failed)
	}
	return nil
}

// decide sends the decision in a session of its own.
func (x *prepared) decide(ctx context.Context, statement string) error {
	conn, err := x.site.App.Conn(ctx)
	if err != nil {
		return fmt.Errorf("decide on %s: %w", x.name, err)
	}
	_, err = conn.ExecContext(ctx, statement+x.xid())
	if err != nil {
		err = fmt.Errorf("%s%s: %w", statement, x.name, err)
	}
	return errors.Join(err, conn.Close())
}

// recovered asks the server whether the transaction is prepared.
func (x *prepared) recovered(ctx context.Context) (found bool, err error) {
	rows, err := x.site.Cluster.Source().DB.QueryContext(ctx, "XA RECOVER")
	if err != nil {
		return false, fmt.Errorf("look for prepared transactions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var ignored int64
		var data string
		if err := rows.Scan(&ignored, &ignored, &ignored, &data); err != nil {
			return false, fmt.Errorf("look for prepared transactions: %w", err)
		}
		found = found || data == x.name
	}
	return found, rows.Err()
}
