package stream

import "testing"

// What an earlier run did to the shadow comes through the stream of the run
// that resumes it, and must not stop it. Nothing else may pass for that.
func TestQueryOfEarlierRun(t *testing.T) {
	for _, c := range []struct {
		text    string
		resumed bool
		passes  bool
	}{
		{"/* osc:apply */ ALTER TABLE `shop`.`_orders_new` AUTO_INCREMENT = 7", true, true},
		{"/* osc:index */ ALTER TABLE `shop`.`_orders_new` ADD KEY `a` (`b`), ALGORITHM=INPLACE, LOCK=NONE", true, true},
		{"/* osc:index */ ALTER TABLE `shop`.`_orders_new` ADD KEY `a` (`b`) /*!80000 INVISIBLE */, ALGORITHM=INPLACE, LOCK=NONE", true, true},
		{"/* osc:apply */ ALTER TABLE `shop`.`_orders_new` AUTO_INCREMENT = 7", false, false},
		{"ALTER TABLE `shop`.`_orders_new` AUTO_INCREMENT = 7", true, false},
		{"/* osc:rename */ RENAME TABLE shop.orders TO shop._orders_old, shop._orders_new TO shop.orders", true, false},
		{"/* osc:apply */ ALTER TABLE `shop`.`orders` AUTO_INCREMENT = 7", true, false},
	} {
		s := New(Config{Schema: "shop", Original: "orders", Shadow: "_orders_new", Resumed: c.resumed}, Handler{})
		s.boundary.Store(&Position{File: "binlog.000001", Pos: 4})
		r := &reader{Stream: s, file: "binlog.000001"}
		if err := r.query("shop", c.text); (err == nil) != c.passes {
			t.Errorf("%s, resumed %v: got error %v, want it to pass: %v", c.text, c.resumed, err, c.passes)
		}
	}
}
