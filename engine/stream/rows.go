package stream

import (
	"fmt"
	"math/bits"

	"github.com/go-mysql-org/go-mysql/replication"
)

// The kinds of row events, by what their rows consist of.
type change int

const (
	inserted change = iota // after
	updated                // before, after
	deleted                // before
)

// rows reads a row event, a row at a time: however long it is, no more than
// a window of it is held.
func (r *reader) rows(kind replication.EventType, c *cursor) error {
	t := r.tables[c.number(6)]
	if t == nil || t.role == original {
		r.foreign.Add(1)
	}
	if t == nil || t.role == shadow {
		return c.err
	}
	c.skip(2) // flags
	if kind != replication.WRITE_ROWS_EVENTv1 && kind != replication.UPDATE_ROWS_EVENTv1 && kind != replication.DELETE_ROWS_EVENTv1 {
		c.skip(int64(c.number(2)) - 2) // extra data, counted with its own length
	}
	if n := int(c.length()); n != len(t.columns) && c.err == nil {
		return fmt.Errorf("row event of %d columns for a table of %d", n, len(t.columns))
	}
	images := &r.images
	images.table, images.partial = t, kind == replication.PARTIAL_UPDATE_ROWS_EVENT
	bitmap := (len(t.columns) + 7) / 8
	what := changeOf(kind)
	images.before = append(images.before[:0], c.take(bitmap)...)
	if what == updated {
		images.after = append(images.after[:0], c.take(bitmap)...)
	}
	for c.left > 0 && c.err == nil {
		first := images.read(c, images.before, images.first[:0], false)
		second := []any(nil)
		if what == updated {
			second = images.read(c, images.after, images.second[:0], true)
			images.second = second
		}
		images.first = first
		if c.err != nil {
			break
		}
		if err := r.row(t, what, first, second); err != nil {
			return err
		}
	}
	return c.err
}

func changeOf(kind replication.EventType) change {
	switch kind {
	case replication.WRITE_ROWS_EVENTv1, replication.WRITE_ROWS_EVENTv2:
		return inserted
	case replication.DELETE_ROWS_EVENTv1, replication.DELETE_ROWS_EVENTv2:
		return deleted
	}
	return updated
}

// images reads the row images of one event; the values of one row are
// overwritten by the next.
type images struct {
	*table
	partial       bool   // JSON columns of after-images may hold differences
	before, after []byte // which columns they have
	nulls         []byte
	first, second []any
}

// absent stands for a column that the image does not have.
type absent struct{}

// read appends the wanted values of one image to values.
func (m *images) read(c *cursor, present []byte, values []any, after bool) []any {
	if m.partial && after {
		const partialJSON = 1
		if c.length()&partialJSON != 0 {
			c.skip(int64(m.jsons+7) / 8) // whichever way a JSON value is stored, it is skipped
		}
	}
	m.nulls = append(m.nulls[:0], c.take((count(present, len(m.columns))+7)/8)...)
	for range m.wanted {
		values = append(values, absent{})
	}
	for i, n := 0, 0; i < len(m.columns); i++ {
		if !bit(present, i) {
			continue
		}
		null := bit(m.nulls, n)
		n++
		switch place := m.place[i]; {
		case null && place >= 0:
			values[place] = nil
		case null:
		case place >= 0:
			values[place] = m.columns[i].value(c)
		default:
			m.columns[i].skip(c)
		}
	}
	return values
}

// count is the number of bits that are set among the first n.
func count(bitmap []byte, n int) int {
	total := 0
	for i, b := range bitmap {
		if rest := n - 8*i; rest < 8 {
			b &= 1<<rest - 1
		}
		total += bits.OnesCount8(b)
	}
	return total
}

func bit(bitmap []byte, n int) bool { return n/8 < len(bitmap) && bitmap[n/8]>>(n%8)&1 == 1 }

// row handles one row of an event: first is its before-image, or of an
// insert its after-image.
func (r *reader) row(t *table, what change, first, second []any) error {
	if t.role == control {
		return r.marker(what, first, second)
	}
	for _, value := range first {
		if value == any(absent{}) {
			return fmt.Errorf("an event of %s does not carry its key", r.cfg.Original)
		}
	}
	if what != updated {
		return r.handler.Changed(r.ctx, first, what == deleted)
	}
	// A changed key is two keys, the one that is gone and the one that came.
	// They may be one for the server still, in another spelling, so both
	// count as gone.
	same := true
	for i, value := range second {
		if value == any(absent{}) {
			second[i] = first[i]
		}
		same = same && first[i] == second[i]
	}
	if err := r.handler.Changed(r.ctx, first, !same); err != nil || same {
		return err
	}
	return r.handler.Changed(r.ctx, second, true)
}

// marker reads the token of a row of the control table.
func (r *reader) marker(what change, first, second []any) error {
	row := first
	if what == updated {
		row = second
	}
	if token, ok := row[0].(string); ok && what != deleted {
		r.handler.Marker(token)
	}
	return nil
}
