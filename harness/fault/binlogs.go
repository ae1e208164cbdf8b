package fault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"rowproof/harness/topology"
)

// FlushBinlogs makes the source begin a new binlog file (FLUSH BINARY LOGS).
func FlushBinlogs() Action {
	name := "flush the binary logs"
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		return Source.each(ctx, s, name, flushBinlogs)
	}}
}

func flushBinlogs(ctx context.Context, source *topology.Server) error {
	before, err := source.BinlogEnd(ctx)
	if err != nil {
		return err
	}
	if _, err := source.DB.ExecContext(ctx, "FLUSH BINARY LOGS"); err != nil {
		return fmt.Errorf("flush binary logs of %s: %w", source.Name, err)
	}
	after, err := source.BinlogEnd(ctx)
	if err == nil && after.File == before.File {
		err = fmt.Errorf("flush binary logs of %s: it still writes %s", source.Name, after.File)
	}
	return err
}

// PurgeBinlogs makes the source begin a new binlog file and remove all others
// (PURGE BINARY LOGS), whether or not the replicas have read them. It returns
// once they are gone; the server keeps a file as long as it is sending it.
func PurgeBinlogs() Action {
	name := "purge the binary logs"
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		return Source.each(ctx, s, name, func(ctx context.Context, source *topology.Server) error {
			if err := flushBinlogs(ctx, source); err != nil {
				return err
			}
			return seen(ctx, "the newest binary log is the only one", func(ctx context.Context) (bool, error) {
				return purged(ctx, source)
			})
		})
	}}
}

// purged purges what can go now and reports whether one file is left.
func purged(ctx context.Context, source *topology.Server) (bool, error) {
	end, err := source.BinlogEnd(ctx)
	if err != nil {
		return false, err
	}
	if _, err := source.DB.ExecContext(ctx, "PURGE BINARY LOGS TO '"+end.File+"'"); err != nil {
		return false, fmt.Errorf("purge binary logs of %s: %w", source.Name, err)
	}
	rows, err := source.DB.QueryContext(ctx, "SHOW BINARY LOGS")
	if err != nil {
		return false, fmt.Errorf("read binary logs of %s: %w", source.Name, err)
	}
	defer rows.Close()
	files := 0
	for rows.Next() {
		files++
	}
	return files == 1, errors.Join(rows.Err(), rows.Close())
}

// ResetBinlogs makes the source forget its binary logs and its GTIDs (RESET
// BINARY LOGS AND GTIDS). It returns once as many GTIDs have been given as
// before, to transactions that change nothing: what had been executed seems to
// be so still, and the history is another one. The numbers of files go on, so
// that none has the name of one before. Replicas could not go on.
func ResetBinlogs() Action {
	name := "reset the binary logs"
	return Action{Name: name, Do: func(ctx context.Context, s *Site) error {
		if len(s.Cluster.Replicas()) > 0 {
			return errors.New("the cluster has a replica, which could not go on")
		}
		return Source.each(ctx, s, name, resetBinlogs)
	}}
}

func resetBinlogs(ctx context.Context, source *topology.Server) error {
	before, err := source.BinlogEnd(ctx)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimPrefix(path.Ext(before.File), "."))
	if err != nil {
		return fmt.Errorf("read the number of binary log %s: %w", before.File, err)
	}
	if err := source.ResetBinlogs(ctx, number+1); err != nil {
		return err
	}
	return seen(ctx, "as many GTIDs are given as before", func(ctx context.Context) (given bool, err error) {
		for !given && err == nil {
			if _, err = source.DB.ExecContext(ctx, "FLUSH USER_RESOURCES"); err == nil {
				err = source.DB.QueryRowContext(ctx, "SELECT GTID_SUBSET(?, @@GLOBAL.gtid_executed)", before.GTIDSet).Scan(&given)
			}
		}
		return given, err
	})
}
