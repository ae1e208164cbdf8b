package mysql

import (
	"database/sql"
	"fmt"
)

// ScanTuples reads rows whose columns are the text of a key, and turns each
// into a T. It closes rows.
func ScanTuples[T any](rows *sql.Rows, make func(text [][]byte) (T, error)) ([]T, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	var tuples []T
	for rows.Next() {
		text := anyBytes(len(columns))
		if err := rows.Scan(text.pointers...); err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		tuple, err := make(text.values)
		if err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		tuples = append(tuples, tuple)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return tuples, nil
}

type scanTarget struct {
	values   [][]byte
	pointers []any
}

func anyBytes(n int) scanTarget {
	t := scanTarget{values: make([][]byte, n), pointers: make([]any, n)}
	for i := range t.values {
		t.pointers[i] = &t.values[i]
	}
	return t
}
