package fault_test

import (
	"testing"

	"rowproof/harness/fault"
)

func TestExec(t *testing.T) {
	r := newRig(t, plain, true)
	t.Run("OK", func(t *testing.T) {
		r.do(t, fault.Exec("SET GLOBAL max_connections = 77"), fault.Exec("ANALYZE TABLE pair"))
		var got int
		if err := r.App.QueryRowContext(t.Context(), "SELECT @@GLOBAL.max_connections").Scan(&got); err != nil || got != 77 {
			t.Errorf("max_connections: got %d, %v, want 77", got, err)
		}
	})
	t.Run("ErrRefused", func(t *testing.T) {
		if err := r.try(fault.Exec("SET GLOBAL no_such = 1")); err == nil {
			t.Error("got no error")
		}
	})
}
