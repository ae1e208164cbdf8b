package ddl_test

import (
	"strings"
	"testing"

	"rowproof/engine/ddl"
)

func withChecks(name string, lines ...string) ddl.Table {
	t := table(name, columns(column("id", "int")), "PRIMARY(id)")
	t.CreateSQL = "CREATE TABLE `" + name + "` (\n  `id` int NOT NULL,\n  PRIMARY KEY (`id`),\n  " + strings.Join(lines, ",\n  ") + "\n) ENGINE=InnoDB"
	return t
}

func TestChecks(t *testing.T) {
	shadow, old := ddl.TableName{Schema: "d", Name: "_orders_new"}, ddl.TableName{Schema: "d", Name: "_orders_old"}
	original := withChecks("orders", "CONSTRAINT `orders_chk_7` CHECK ((`id` > 0))",
		"CONSTRAINT `Positive` CHECK ((`id` <> _utf8mb4', CONSTRAINT x')) /*!80016 NOT ENFORCED */")
	checks, err := ddl.NewChecks(original, shadow, old)
	noError(t, err)

	t.Run("OK/the shadow's names", func(t *testing.T) {
		same(t, checks.Rename(withChecks("_orders_new", "CONSTRAINT `_orders_new_chk_1` CHECK ((`id` > 0))", "CONSTRAINT `_orders_new_chk_2` CHECK ((`id` <> 7))")),
			"DROP CHECK `_orders_new_chk_1`, DROP CHECK `_orders_new_chk_2`, ADD CONSTRAINT `_orders_new_chk_7` CHECK ((`id` > 0)), "+
				"ADD CONSTRAINT `_orders_new_chk_osc2` CHECK ((`id` <> _utf8mb4', CONSTRAINT x')) /*!80016 NOT ENFORCED */")
	})
	t.Run("OK/clauses that name a check", func(t *testing.T) {
		a, err := ddl.ParseAlter(original.Name, "DROP CHECK positive, ALTER CHECK `orders_chk_7` NOT ENFORCED, DROP CONSTRAINT other, ADD CHECK (id <> 5)", "9.7.4")
		noError(t, err)
		same(t, checks.Translate(a), "DROP CHECK `_orders_new_chk_osc2`, ALTER CHECK `_orders_new_chk_7` NOT ENFORCED, DROP CONSTRAINT other, ADD CHECK (id <> 5)")
		noError(t, checks.Refuse(a))
		noError(t, checks.Kept(withChecks("_orders_new", "CONSTRAINT `_orders_new_chk_7` CHECK ((`id` > 0))")))
	})
	t.Run("ErrKept", func(t *testing.T) {
		refused(t, checks.Refuse(ddl.Alter{Text: "ADD COLUMN c INT"}), "CHECK constraint `Positive`")
		refused(t, checks.Kept(withChecks("_orders_new", "CONSTRAINT `_orders_new_chk_osc2` CHECK ((`id` <> 7))")), "DROP CHECK `Positive`, ADD CONSTRAINT new_name")
	})
	t.Run("ErrTooLong", func(t *testing.T) {
		name := strings.Repeat("o", 56)
		_, err := ddl.NewChecks(withChecks(name, "CONSTRAINT `"+name+"_chk_1` CHECK ((`id` > 0))"), shadow, ddl.TableName{Name: "_" + name + "_old"})
		refused(t, err, "too long a name")
	})
}
