package stream

import (
	"strings"
	"testing"
)

// A statement in the binlog must stop the stream if it may touch the
// original, and must not if it can't.
func TestQuery(t *testing.T) {
	s := New(Config{Schema: "shop", Original: "orders", Shadow: "_orders_new"}, Handler{})
	r := &reader{Stream: s, file: "binlog.000001"}
	s.Expect("/* osc:rename */ RENAME TABLE shop.orders TO shop._orders_old")
	s.boundary.Store(&Position{File: "binlog.000001", Pos: 4})
	for _, c := range []struct {
		schema, text string
		stops        string // what the error says; empty: the statement passes
	}{
		{"shop", "BEGIN", ""},
		{"shop", "COMMIT", ""},
		{"shop", "SAVEPOINT orders", ""},
		{"shop", "XA START X'78',X'',1", ""},
		{"shop", "CREATE TABLE other (id INT)", ""},
		{"shop", "ALTER TABLE customers ADD COLUMN a INT", ""},
		{"other", "ALTER TABLE orders ADD COLUMN a INT", ""},
		{"other", "INSERT INTO orders VALUES (1)", ""},
		{"shop", "CREATE TABLE notes (text TEXT COMMENT 'about orders')", ""},
		{"shop", "DROP DATABASE other", ""},
		{"shop", "OPTIMIZE TABLE orders", ""},
		{"shop", "CREATE DEFINER=`trigger`@`%` PROCEDURE pay() UPDATE orders SET paid = 1", ""},
		{"shop", "CREATE ALGORITHM=UNDEFINED DEFINER=`a`@`%` SQL SECURITY DEFINER VIEW `open` AS SELECT * FROM orders", ""},
		{"shop", "DROP VIEW IF EXISTS `orders_table`", ""},
		{"shop", "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `orders`", ""},
		{"shop", "/* osc:rename */ RENAME TABLE shop.orders TO shop._orders_old", ""}, // our own

		{"shop", "ALTER TABLE orders ADD COLUMN a INT", "a definition change of orders"},
		{"shop", "alter table `Orders` add column a int", "a definition change"},
		{"other", "ALTER TABLE shop.orders ADD COLUMN a INT", "a definition change"},
		{"shop", "/* by hand */ TRUNCATE TABLE orders", "a definition change"},
		{"shop", "DROP TABLE customers, orders", "a definition change"},
		{"shop", "RENAME TABLE orders TO sales", "a definition change"},
		{"shop", "ALTER TABLE _orders_new DROP COLUMN a", "a definition change"},
		{"shop", "DROP DATABASE shop", "a definition change"},
		{"shop", "CREATE INDEX i ON orders (paid)", "a definition change"},
		{"shop", "DROP INDEX i ON orders", "a definition change"},
		{"shop", "CREATE DEFINER=`view`@`%` TRIGGER watch BEFORE INSERT ON orders FOR EACH ROW SET @x = 1", "a definition change"},
		{"shop", "INSERT INTO orders VALUES (1)", "a change logged as a statement"},
		{"shop", "UPDATE customers c JOIN orders o ON c.id = o.customer SET o.paid = 1", "a change logged as a statement"},
		{"shop", "DELETE FROM orders WHERE id = 1", "a change logged as a statement"},
		{"shop", "ALTER TABLE orders ADD COLUMN a INT SOME NEW GRAMMAR", "a definition change"},
	} {
		err := r.query(c.schema, c.text)
		switch {
		case c.stops == "" && err != nil:
			t.Errorf("%s: got error %v, want none", c.text, err)
		case c.stops != "" && err == nil:
			t.Errorf("%s: got no error, want one that says %q", c.text, c.stops)
		case c.stops != "" && !strings.Contains(err.Error(), c.stops):
			t.Errorf("%s: got error %q, want it to say %q", c.text, err, c.stops)
		}
	}
}
