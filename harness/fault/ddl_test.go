package fault_test

import (
	"testing"

	"rowproof/harness/fault"
)

func TestDDL(t *testing.T) {
	r := newRig(t, plain, false)
	r.exec(t, "CREATE TABLE _pair_new LIKE pair")
	t.Run("OK/Alter", func(t *testing.T) {
		r.do(t, fault.Alter(fault.Original, "ADD COLUMN extra INT NULL"), fault.Alter(fault.Shadow, "ADD COLUMN other INT NULL"))
		r.exec(t, "UPDATE pair SET extra = 1 WHERE id = 1")
		r.exec(t, "INSERT INTO _pair_new (id, name, val, other) VALUES (1, 'n', 1, 1)")
	})
	t.Run("OK/Rename", func(t *testing.T) {
		r.do(t, fault.RenameAway(fault.Original, "elsewhere"))
		if _, err := r.subject.ExecContext(t.Context(), "DO (SELECT COUNT(*) FROM pair)"); err == nil {
			t.Error("the original is there")
		}
		r.exec(t, "DO (SELECT COUNT(*) FROM elsewhere)")
		r.do(t, fault.RenameBack("elsewhere", fault.Original))
		r.exec(t, "DO (SELECT COUNT(*) FROM pair)")
	})
	t.Run("ErrChangesNothing", func(t *testing.T) {
		if err := r.try(fault.Alter(fault.Original, "ENGINE = InnoDB")); err == nil {
			t.Error("got no error")
		}
	})
	t.Run("ErrNoSuchTable", func(t *testing.T) {
		if err := r.try(fault.RenameAway(fault.Old, "elsewhere")); err == nil {
			t.Error("got no error")
		}
		r.Names = fault.Names{}
		if err := r.try(fault.Alter(fault.Shadow, "ADD COLUMN more INT NULL")); err == nil {
			t.Error("a shadow without a name: got no error")
		}
	})
}
