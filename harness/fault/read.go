package fault

import (
	"context"
	"errors"

	"github.com/go-sql-driver/mysql"

	"rowproof/harness/history"
	"rowproof/harness/observe"
	"rowproof/harness/workload"
)

// Read has the application read rows, each for itself, and puts what it found
// into the ledger: from then on no order of the writes may contradict it.
func Read(keys ...history.Key) Action {
	name := "read row"
	for _, k := range keys {
		name += " " + string(k)
	}
	return Action{Name: name, Reads: keys, Do: func(ctx context.Context, s *Site) error {
		for _, k := range keys {
			if err := s.read(ctx, k); err != nil {
				return err
			}
		}
		return nil
	}}
}

func (s *Site) read(ctx context.Context, key history.Key) error {
	statement := "SELECT * FROM " + workload.Quote(s.Table.Name) + " WHERE " + workload.Condition(s.Table, key)
	id := s.Recorder.Begin(history.Op{Client: "fault", Kind: "read", SQL: []string{statement}})
	rows, err := observe.Rows(ctx, s.App, observe.TableRef{Schema: s.Schema, Name: s.Table.Name}, []history.Key{key})
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		s.Recorder.Saw(id, map[history.Key]history.Row{key: rows[key]})
	case errors.As(err, &refused):
		s.Recorder.End(id, history.Failed, refused.Number, refused.Message)
	default:
		s.Recorder.End(id, history.Unknown, 0, err.Error())
	}
	return err
}
