package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rowproof/harness/history"
)

// keyedRow is a row by its key: what the server holds for the same key, how to
// select it, and the hash of what is in it.
type keyedRow struct {
	at   bound
	hash string
	text history.Key
}

// leaf reads a small range of both sides key by key.
func (c *comparer) leaf(ctx context.Context, r keyRange) error {
	want, err := c.want.keyed(ctx, r)
	if err != nil {
		return err
	}
	got, err := c.got.keyed(ctx, r)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for id := range want {
		ids[id] = true
	}
	for id := range got {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		w, inWant := want[id]
		g, inGot := got[id]
		if inWant && inGot && w.hash == g.hash {
			continue
		}
		d := history.RowDiff{Key: w.text}
		if !inWant {
			d.Key = g.text
		}
		if c.result.Truncated || c.exclude[d.Key] {
			continue
		}
		var wantHex, gotHex map[string]string
		if inWant {
			if d.Want, wantHex, err = c.want.row(ctx, w.at.is(c.want.key)); err != nil {
				return err
			}
		}
		if inGot {
			if d.Got, gotHex, err = c.got.row(ctx, g.at.is(c.got.key)); err != nil {
				return err
			}
		}
		if inWant && inGot {
			c.nameColumns(&d, wantHex, gotHex)
		}
		c.report(d)
	}
	return nil
}

// nameColumns finds the columns in which two rows differ, and keeps their
// bytes: the text may look the same.
func (c *comparer) nameColumns(d *history.RowDiff, wantHex, gotHex map[string]string) {
	d.WantHex, d.GotHex = map[string]string{}, map[string]string{}
	for _, name := range c.common {
		if wantHex[name] != gotHex[name] {
			d.Columns = append(d.Columns, name)
			d.WantHex[name], d.GotHex[name] = wantHex[name], gotHex[name]
		}
	}
}

// keyed reads the keys and hashes of a range, by identity.
func (s side) keyed(ctx context.Context, r keyRange) (map[string]keyedRow, error) {
	n := len(s.key)
	columns := make([]string, 0, 3*n+1)
	for _, c := range s.key {
		columns = append(columns, c.identity())
	}
	for _, c := range s.key {
		columns = append(columns, "HEX("+c.literalBytes()+")")
	}
	for _, c := range s.key {
		columns = append(columns, c.shown())
	}
	columns = append(columns, s.hash)
	rows := map[string]keyedRow{}
	statement := "SELECT " + strings.Join(columns, ", ") + " FROM " + s.table.Quoted() + " FORCE INDEX (PRIMARY) WHERE " + r.where(s.key)
	err := query(ctx, s.conn, statement, func(row []*string) error {
		for i, v := range row {
			if v == nil {
				return fmt.Errorf("read keys of %s: column %d is NULL", s.table, i+1)
			}
		}
		ids, hexes, shown := make([]string, n), make([]string, n), make([]string, n)
		for i, c := range s.key {
			ids[i], hexes[i] = *row[i], *row[n+i]
			v, err := c.decodeShown(row[2*n+i])
			if err != nil {
				return err
			}
			shown[i] = *v
		}
		at, err := s.bound(hexes)
		if err != nil {
			return err
		}
		rows[strings.Join(ids, ",")] = keyedRow{at: at, hash: *row[3*n], text: history.Key(strings.Join(shown, ","))}
		return nil
	})
	return rows, err
}

// row reads one row: its values, and the hex digits of their bytes. The first
// of several is taken.
func (s side) row(ctx context.Context, where string) (history.Row, map[string]string, error) {
	var values history.Row
	bytes := map[string]string{}
	err := s.rows(ctx, where+" LIMIT 1", "''", func(_ string, row history.Row, hexes map[string]string) {
		values, bytes = row, hexes
	})
	if err == nil && values == nil {
		err = fmt.Errorf("read row of %s where %.200s: it is gone", s.table, where)
	}
	return values, bytes, err
}

// rows reads whole rows, with the value of one more expression.
func (s side) rows(ctx context.Context, where, extra string, each func(extra string, row history.Row, hexes map[string]string)) error {
	columns := []string{extra}
	for _, c := range s.def.Columns {
		columns = append(columns, c.shown(), "HEX("+c.bytes()+")")
	}
	return query(ctx, s.conn, "SELECT "+strings.Join(columns, ", ")+" FROM "+s.table.Quoted()+" WHERE "+where, func(v []*string) error {
		row, hexes := history.Row{}, map[string]string{}
		for i, c := range s.def.Columns {
			value, err := c.decodeShown(v[1+2*i])
			if err != nil {
				return err
			}
			row[c.Name] = value
			hexes[c.Name] = "NULL"
			if h := v[2+2*i]; h != nil {
				hexes[c.Name] = *h
			}
		}
		each(*v[0], row, hexes)
		return nil
	})
}
