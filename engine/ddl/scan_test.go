package ddl_test

import (
	"testing"

	"rowproof/engine/ddl"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		sql, schema string
		want        bool
	}{
		{"CREATE TRIGGER x BEFORE INSERT ON Orders FOR EACH ROW SET @a = 1", "shop", true},
		{"ALTER TABLE `shop` . `orders` ADD (a INT, KEY (a))", "other", true},
		{"ALTER TABLE other.orders ADD (a INT, KEY (a))", "shop", false},
		{"ALTER TABLE orders ADD (a INT, KEY (a))", "other", false},
		{"ALTER TABLE reorders ADD (a INT, KEY (a))", "shop", false},
		{"ALTER TABLE items ADD (a INT COMMENT 'see orders')", "shop", false},
		{`ALTER TABLE "orders" ADD a INT`, "shop", true}, // a name under ANSI_QUOTES
		{"/*!50100 ALTER TABLE orders ADD a INT */", "shop", true},
	} {
		if got := ddl.Mentions(c.sql, c.schema, ddl.TableName{Schema: "shop", Name: "orders"}); got != c.want {
			t.Errorf("%s in %s: got %v, want %v", c.sql, c.schema, got, c.want)
		}
	}
}
