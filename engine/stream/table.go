package stream

import (
	"fmt"
	"strings"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"
)

// table is what the row events of one table need to be read.
type table struct {
	role    role
	columns []column
	wanted  []int  // places of the columns that are read
	place   []int  // for each column its place among the wanted, or -1
	jsons   int    // number of JSON columns
	raw     string // the event that said all this
}

// role says what a table is to the stream.
type role int

const (
	foreign role = iota // somebody else's
	original
	shadow
	control
)

// tableMap reads which table the next row events are of. Only our two are
// read any further: what others hold costs nothing and can't disturb us.
func (r *reader) tableMap(c *cursor) error {
	raw := c.whole // nil if the event is a big one
	id := c.number(6)
	if t := r.tables[id]; t != nil && len(raw) > 0 && t.raw == string(raw) {
		return c.err
	}
	c.skip(2)
	schema := string(c.take(int(c.number(1))))
	c.skip(1)
	name := string(c.take(int(c.number(1))))
	c.skip(1)
	if c.err != nil {
		return c.err
	}
	// The same number can mean another table after a restart of the server.
	delete(r.tables, id)
	t := &table{role: r.role(schema, name), raw: string(raw)}
	switch t.role {
	case shadow:
	case original:
		t.wanted = r.cfg.Key
	case control:
		t.wanted = []int{1} // the token
	default:
		return nil
	}
	if t.role != shadow {
		if err := t.read(c); err != nil {
			return err
		}
		if t.role == original && len(t.columns) != r.cfg.Columns {
			return fmt.Errorf("an event of %s has %d columns, the table had %d: somebody altered it",
				r.cfg.Original, len(t.columns), r.cfg.Columns)
		}
	}
	r.tables[id] = t
	return nil
}

func (r *reader) role(schema, name string) role {
	if !strings.EqualFold(schema, r.cfg.Schema) {
		return foreign
	}
	switch name {
	case r.cfg.Original:
		return original
	case r.cfg.Shadow:
		return shadow
	case r.cfg.Control:
		return control
	}
	return foreign
}

// read reads the columns' types.
func (t *table) read(c *cursor) error {
	n := int(c.length())
	if n > maxColumns {
		return fmt.Errorf("table map has %d columns", n)
	}
	kinds := c.copied(int64(n))
	c.length() // of what follows
	for _, kind := range kinds {
		meta := uint16(0)
		switch size, bigEndian := metaSize(kind); {
		case bigEndian:
			meta = uint16(c.big(size))
		case size > 0:
			meta = uint16(c.number(size))
		}
		t.columns = append(t.columns, newColumn(kind, meta))
		if kind == gomysql.MYSQL_TYPE_JSON {
			t.jsons++
		}
	}
	t.place = make([]int, n)
	for i := range t.place {
		t.place[i] = -1
	}
	for i, column := range t.wanted {
		if column >= n {
			return fmt.Errorf("table map has %d columns, number %d is wanted", n, column+1)
		}
		t.place[column] = i
	}
	return c.err
}

// maxColumns is how many columns MySQL allows in a table.
const maxColumns = 4096
